import Glibc
import ServiceEssentials

// A program with an outbox or an entity cache in files, which tests start and kill.
//
// usage: ResourceProbe outbox DIRECTORY URL FIRST COUNT [hold] | cache DIRECTORY NUMBER MAXIMUM | types
//
// It prints a line after each step, as its modes describe, or `failed REASON: MESSAGE`.

func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = write(STDOUT_FILENO, bytes, bytes.count)
}

let words = Array(CommandLine.arguments.dropFirst())
do throws(RequestFailure) {
    switch (words.first, words.count) {
    case ("outbox", 5...): try await ProbedOutbox(words).run()
    case ("cache", 4):
        var cache = try ProbedCache(words)
        try await cache.run()
    case ("types", 1): ProbedTypes.run()
    default: exit(2)
    }
} catch {
    say("failed \(error.reason): \(error.message)")
    exit(1)
}
