import Glibc
import ServiceEssentials

/// An outbox to which requests with rising numbers are added, and which then sends all that it has.
///
/// It prints `open`, `added N`, `sent N` and `drained`.
struct ProbedOutbox {
    private let directory: String
    private let url: String
    private let numbers: Range<Int>
    /// Whether the directory stays in use until the input ends.
    private let holds: Bool

    init(_ words: [String]) {
        guard let first = Int(words[3]), let count = Int(words[4]) else { exit(2) }
        (directory, url, numbers) = (words[1], words[2], first..<(first + count))
        holds = words.dropFirst(5).first == "hold"
    }

    func run() async throws(RequestFailure) {
        let environment = try ConstantEnvironment(url)
        let requests = try HTTPDataRequestService(environment: environment)
        var configuration = Outbox.Configuration()
        configuration.backoff = .exponential(base: .milliseconds(1), cap: .milliseconds(1))
        let outbox = try Outbox(
            directory: directory, requests: requests, environment: environment, configuration: configuration)
        try await outbox.open()
        say("open")
        let telling = Task {
            for await entry in outbox.statuses { if case .sent = entry.state { say("sent \(entry.id)") } }
        }
        for number in numbers {
            try await outbox.add(DataRequest(.post, "views", parameters: ["id": number]))
            say("added \(number)")
        }
        if holds { while getchar() != EOF {} }
        try await outbox.drain()
        say("drained")
        await outbox.close()
        await telling.value
        await requests.shutdown()
    }
}
