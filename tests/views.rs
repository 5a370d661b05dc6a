//! Views of machines that stand somewhere.

#![allow(clippy::unwrap_used, reason = "a test that cannot run its kernel fails")]

mod look;

use look::standing;
use ptxdbg::debug::explain::explain;
use ptxdbg::debug::expression::Expression;
use ptxdbg::debug::focus::ThreadFilter;
use ptxdbg::debug::scene::Scene;
use ptxdbg::debug::view;
use ptxdbg::ui::text::{table::table, value, view as words};

fn dump(title: &str, scene: &Scene<'_>) {
    let all = ThreadFilter::default();
    println!("=========== {title}");
    println!("--- launch\n{}", table(&view::launch(scene)));
    println!("--- kernels\n{}", table(&view::kernels(scene)));
    println!("--- blocks\n{}", table(&view::blocks(scene, &all)));
    let show = |name: &str, t: Result<view::Table, _>| match t { Ok(t) => println!("--- {name}\n{}", table(&t)), Err(e) => { let e: ptxdbg::debug::scene::SceneError = e; println!("--- {name}: {e}") } };
    show("warps", view::warps(scene, &all));
    show("lanes", view::lanes(scene, &all));
    println!("--- threads\n{}", table(&view::threads(scene, &all)));
    show("barriers", view::barriers(scene, &all));
    show("backtrace", view::backtrace(scene, 10));
    show("locals", view::locals(scene, None));
    println!("--- symbols\n{}", table(&view::symbols(scene, "")));
    println!("--- shared\n{}", table(&view::shared(scene)));
    println!("--- allocations\n{}", table(&view::allocations(scene)));
    if let Ok(rows) = view::registers(scene, |_| true, false, None) { println!("--- registers\n{}", value::registers(&rows)); }
    if let Ok(rows) = view::registers(scene, |_| true, true, None) { println!("--- all registers\n{}", value::registers(&rows)); }
    if let Ok(d) = view::divergence(scene) { println!("--- divergence\n{}", words::divergence(&d)); }
    if let Ok(f) = scene.frame() {
        println!("--- cfg\n{}", words::control_flow(&view::control_flow(scene, f.function)));
        println!("--- source\n{}", words::source(&view::source_place(scene, f.pc).unwrap()));
    }
    let (file, line) = view::current_line(scene);
    println!("--- list\n{}", words::listing(&view::list(scene, file, line.saturating_sub(5)..line + 6, &[])));
    if let Some(e) = explain(scene, None) { println!("--- explain\n{}", words::explanation(&e)); }
    for (letters, at) in [("8xw", "x"), ("4f", "&x[2]"), ("3i", "$pc"), ("s", "&x"), ("6", "table"), ("3xg", "%rd1"), ("2a", "&scratch"), ("5c", "(u8*)x"), ("2i", "twice"), ("4", "row"), ("200", "x+60")] {
        let Ok(parsed) = Expression::parse(at) else { continue };
        let Ok(v) = parsed.evaluate(scene) else { continue };
        let e = view::Examine::default().with(letters).unwrap();
        match view::examine(scene, &e, &v) { Ok(x) => println!("--- x/{letters} {at}\n{}", words::examined(&x, letters.contains('i'))), Err(e) => println!("--- x/{letters} {at}: {e}") }
    }
}

#[test]
fn dump_all() {
    dump("start", &standing("small/looking.ron", 0).scene(0, 0));
    let s = standing("small/looking.ron", 17);
    dump("call", &s.scene(0, 5));
    for t in 0..30 {
        let s = standing("small/looking.ron", t);
        if let Some(e) = explain(&s.scene(0, 5), None) { println!("t={t} {}", words::explanation(&e)); }
    }
    dump("in call", &standing("small/looking.ron", 19).scene(0, 5));
    dump("diverged", &standing("small/looking.ron", 22).scene(0, 5));
    dump("barrier", &standing("small/looking.ron", 30).scene(0, 5));
    dump("bfs", &standing("programs/bfs_frontier.ron", 900).scene(0, 3));
    dump("end", &standing("small/looking.ron", u64::MAX).scene(0, 5));
    dump("deadlock", &standing("faults/barrier_deadlock.ron", u64::MAX).scene(0, 5));
    let s = standing("small/looking.ron", 22);
    for e in ["%r1@*", "%r5@*", "%p1@*", "tile", "x", "table", "%rd3@*", "%f1@*", "x[%r1@*]", "%r1@3", "%r2@0..4"] {
        let v = Expression::parse(e).unwrap().evaluate(&s.scene(0, 5)).unwrap();
        println!("{}", value::printed(e, &v.text(&s.scene(0, 5), None)));
    }
}
