import Glibc
import ServiceEssentials

// A program with an outbox, which the tests of outboxes start and kill.
//
// usage: OutboxProbe DIRECTORY URL FIRST COUNT [hold]
//
// It prints a line after each step: `open`, `added N`, `sent N`, `drained`, or `failed REASON: MESSAGE`.

func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = write(STDOUT_FILENO, bytes, bytes.count)
}

let words = CommandLine.arguments
guard words.count >= 5, let first = Int(words[3]), let count = Int(words[4]) else { exit(2) }
do throws(RequestFailure) {
    let environment = try ConstantEnvironment(words[2])
    let requests = try HTTPDataRequestService(environment: environment)
    var configuration = Outbox.Configuration()
    configuration.backoff = .exponential(base: .milliseconds(1), cap: .milliseconds(1))
    let outbox = try Outbox(
        directory: words[1], requests: requests, environment: environment, configuration: configuration)
    try await outbox.open()
    say("open")
    let telling = Task {
        for await entry in outbox.statuses { if case .sent = entry.state { say("sent \(entry.id)") } }
    }
    for number in first..<(first + count) {
        try await outbox.add(DataRequest(.post, "views", parameters: ["id": number]))
        say("added \(number)")
    }
    // Until the input ends, the directory stays in use.
    if words.dropFirst(5).first == "hold" { while getchar() != EOF {} }
    try await outbox.drain()
    say("drained")
    await outbox.close()
    await telling.value
    await requests.shutdown()
} catch {
    say("failed \(error.reason): \(error.message)")
    exit(1)
}
