import Glibc

// A program with a persistence store, which the tests of stores start and kill.
//
// usage: StoreProbe save PATH | migrate PATH | hold PATH | fork PATH | log PATH | record PATH | record-power PATH |
//     open PATH | read PATH | relative FOLDER | fill FOLDER
//
// It prints a line after each step: `open`, `saved LANE STEP`, `begun MIGRATION`, and others that its modes describe, or
// `failed REASON: MESSAGE`.

func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = write(STDOUT_FILENO, bytes, bytes.count)
}

#if Persistence
    import EssentialsPersistence
    import EssentialsSQLite

    let words = CommandLine.arguments
    guard words.count == 3 else { exit(2) }
    do throws(PersistenceFailure) {
        switch words[1] {
        case "save": try await Lane.runAll(in: words[2])
        case "migrate":
            let migrations = ProbeMigrations.all { say("begun \($0)") }
            let store = SQLitePersistenceService(SQLiteStore(path: words[2], models: []), migrations: migrations)
            try await store.ready()
            say("open")
            await store.close()
        case "hold":
            let store = Posting.service(words[2])
            try await store.ready()
            say("open")
            // The store stays open until the input ends.
            while getchar() != EOF {}
            await store.close()
        case "fork": try await ForkedStore(path: words[2]).run()
        case "log":
            // Forty steps, whose log is left behind when the process is killed.
            let store = Posting.service(words[2])
            let last = try await store.find(Progress.self, id: Int64(Lane.unit.rawValue))?.step ?? 0
            for step in last + 1...last + 40 { try await Lane.unit.save(step, in: store) }
            say("saved \(last + 40)")
            while getchar() != EOF {}
        case "record": try await Lane.unit.record(in: words[2], .process)
        case "record-power": try await Lane.unit.record(in: words[2], .power)
        case "open": await ReadOnlyPlace(path: words[2]).open()
        case "read": try await ReadOnlyPlace(path: words[2]).run()
        case "relative": try await RelativeStore(folder: words[2]).run()
        case "fill": try await SmallDisk(folder: words[2]).run()
        default: exit(2)
        }
    } catch {
        say("failed \(error.reason): \(error.message)")
        exit(1)
    }
#else
    say("The program needs the trait Persistence.")
    exit(2)
#endif
