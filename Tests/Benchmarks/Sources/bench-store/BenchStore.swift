// Measures the persistence service over SQLite beside GRDB alone, with the same models, settings and process.
//
//     cd Tests/Benchmarks
//     BENCHMARK_STORE=1 swift build -c release --product bench-store && .build/release/bench-store
//
// - rows that are created in a scope and saved, and rows that are imported, beside one transaction of inserts;
// - all rows, and rows by their ids, stored and pending;
// - reads over 1,000 pending rows, beside the same over the file;
// - a save to the scope above, also to one with many pending rows, and rows that a unit of work creates one by one;
// - a commit while a hundred observers follow it, and the longest waits of readers beside large saves;
// - the memory of stores, pending rows and scopes.
//
// The sides alternate in one run, and the medians of their rounds are shown. Memory and growth are judged in every run: the
// exit status is 1 if one is over its goal.

internal import Figures
internal import Glibc

@main
struct BenchStore {
    static func main() async {
        var (isSmoke, part) = (false, "")
        var arguments = CommandLine.arguments.dropFirst()
        while let argument = arguments.popFirst() {
            switch argument {
            case "--smoke": isSmoke = true
            case "--only": part = arguments.popFirst() ?? ""
            default:
                print("usage: bench-store [--smoke] [--only writing|reading|pending|observing|memory]")
                exit(argument == "--help" ? 0 : 2)
            }
        }
        do {
            let scale = Scale(isSmoke: isSmoke)
            let smoke = isSmoke ? "; smoke: the times mean nothing" : ""
            var table = Table("Persistence", remark: "medians of \(scale.rounds) rounds\(smoke)")
            var rows: [Row] = []
            if ["", "writing"].contains(part) { rows += try await WritingCost.measure(scale) }
            if ["", "writing"].contains(part) { rows += try await UnitCost.measure(scale) }
            if ["", "reading"].contains(part) { rows += try await ReadingCost.measure(scale) }
            if ["", "pending"].contains(part) { rows += try await PendingCost.measure(scale) }
            if ["", "observing"].contains(part) { rows += try await ObservingCost.measure(scale) }
            if ["", "memory"].contains(part) { rows += try await MemoryCost.measure(scale) }
            table.add(rows)
            print(table.text)
            let missed = rows.filter { $0.isJudged && !$0.isMet }
            for row in missed { print("over its goal: \(row.what)") }
            if !missed.isEmpty { exit(1) }
        } catch {
            print("bench-store: \(error)")
            exit(2)
        }
    }
}

/// How much is measured.
struct Scale: Sendable {
    let isSmoke: Bool

    var rounds: Int { isSmoke ? 2 : 5 }
    var created: Int { isSmoke ? 200 : 10_000 }
    var stored: Int { isSmoke ? 1_000 : 100_000 }
    var pending: Int { isSmoke ? 100 : 1_000 }
    var lookups: Int { isSmoke ? 100 : 5_000 }
    var unit: Int { isSmoke ? 200 : 16_000 }
    var pendingAbove: Int { isSmoke ? 1_000 : 90_000 }
    var saved: Int { isSmoke ? 200 : 5_000 }
    // Memory is judged in a smoke run too, so what all rows or scopes share must be small beside what each one takes.
    var held: Int { 10_000 }
    var scopes: Int { isSmoke ? 20_000 : 100_000 }
}
