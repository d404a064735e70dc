import EssentialsTools
import ServiceEssentials

/// Sends the entries of an outbox, and prints what happens to each one.
struct OutboxDrain: Sendable {
    let directory: String
    let service: HTTPDataRequestService
    let environment: EnvironmentSnapshot
    let partition: EntityPartition
    let options: TransportOptions
    /// Makes the line of an entry.
    let line: @Sendable (OutboxLine) -> String

    /// - Throws: `file` if another process uses the outbox; `cancelled`; and if an entry is left, the reason of the first
    ///   one that has failed, after a line for each of them.
    func run() async throws(RequestFailure) {
        var configuration = Outbox.Configuration()
        configuration.options = options
        // After a signal, the process has one second.
        configuration.closeDeadline = .milliseconds(500)
        let requests = NotedRequests(next: service)
        let outbox = try Outbox(
            directory: directory, requests: requests, environment: ConstantEnvironment(environment), partition: nil,
            configuration: configuration)
        var failure: RequestFailure?
        do throws(RequestFailure) {
            try await drain(outbox, requests)
        } catch {
            failure = error
        }
        await outbox.close()
        if let failure { throw failure }
    }

    private func drain(_ outbox: Outbox, _ requests: NotedRequests) async throws(RequestFailure) {
        try await outbox.open()
        // Nothing is sent before the partition is entered, so no status is missed.
        let statuses = outbox.statuses
        let total = try await outbox.entries.count
        let printing = Task.immediate { [line] () -> (sent: Int, failure: RequestFailure?) in
            var sent = 0
            for await entry in statuses {
                guard case .sent = entry.state else { continue }
                sent += 1
                do throws(RequestFailure) {
                    try StandardStream.output.write(line(OutboxLine(entry: entry)) + "\n")
                } catch {
                    return (sent, error)
                }
            }
            return (sent, nil)
        }
        await outbox.enter(partition)
        try await outbox.drain()
        let isInterrupted = Task.isCancelled
        let (left, damaged) = (try await outbox.entries, try await outbox.damagedFiles)
        await outbox.close()
        let printed = await printing.value
        if let failure = printed.failure { throw failure }
        if isInterrupted { throw RequestFailure(.cancelled, "The outbox was interrupted.") }
        try report(left, damaged, of: total, sent: printed.sent, requests)
    }

    private func report(
        _ left: [OutboxEntry], _ damaged: [String], of total: Int, sent: Int, _ requests: NotedRequests
    ) throws(RequestFailure) {
        for file in damaged {
            StandardStream.error.printLine("warning: " + OneLine.text("“\(file)” is damaged or of another version."))
        }
        var reason: RequestFailure.Reason?
        for entry in left {
            let failure = requests.failure(of: entry)
            if case .failed(let given) = entry.state { reason = reason ?? given.reason }
            reason = reason ?? failure?.reason
            try StandardStream.output.write(line(OutboxLine(entry: entry, failure: failure)) + "\n")
        }
        guard !left.isEmpty || !damaged.isEmpty else { return }
        let isElsewhere = left.contains { $0.state == .otherEnvironment || $0.state == .otherPartition }
        throw RequestFailure(
            reason ?? (isElsewhere ? .invalidRequest : .file),
            "Of \(total) entries, \(sent) were sent and \(left.count) are left.",
            remedy: isElsewhere
                ? "Entries of another environment need its --base-url or --environment, those of another partition need "
                    + "--partition." : "Run the command again, or drop the entries that were given up.",
            phase: .receiving)
    }
}

/// Remembers why the last attempt of each entry has failed.
private final class NotedRequests: DataRequestDecorator {
    let next: any DataRequestService
    private let failures = Mutex<[String: RequestFailure]>([:])

    init(next: any DataRequestService) { self.next = next }

    func send(_ request: DataRequest) async throws(RequestFailure) -> DataResponse {
        do throws(RequestFailure) {
            return try await next.send(request)
        } catch {
            if let key = Self.key(of: request) { failures.withLock { $0[key] = error } }
            throw error
        }
    }

    func failure(of entry: OutboxEntry) -> RequestFailure? { failures.withLock { $0[entry.idempotencyKey] } }

    private static func key(of request: DataRequest) -> String? {
        if case .text(let text)? = request.idempotencyKey { text } else { nil }
    }
}
