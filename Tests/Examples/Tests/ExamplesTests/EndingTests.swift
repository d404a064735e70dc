import EssentialsTestKit
import Glibc
import Testing

@Suite("Programs that a signal ends", .timeLimit(.minutes(5)))
struct EndingTests {
    private static let transfers = ["stream", "download", "resumed"]

    /// Starts a program, sends it a signal when its request has begun, and returns its end and how long that took.
    private func end(
        _ program: String, _ words: [String], _ signals: [Int32] = [SIGTERM], after: Duration = .zero
    ) async throws -> (end: ExampleProcess.End, time: Duration, files: [String]) {
        let server = try EndlessServer.start()
        defer { server.stop() }
        let folder = try TemporaryFolder()
        let process = try ExampleProcess(program, words + [server.url, folder.path("film")])
        _ = try await process.line(after: words.last == "stream" || words.last == "marked" ? "data: 1" : "")
        let start = ContinuousClock.now
        for signal in signals {
            process.signal(signal)
            try await Task.sleep(for: after)
        }
        let end = try await process.end()
        return (end, ContinuousClock.now - start, try folder.names)
    }

    private func check(_ result: (end: ExampleProcess.End, time: Duration, files: [String]), _ transfer: String) {
        #expect(result.end.status == 0, "\(result.end.errors)")
        #expect(result.end.lines.last == "ended")
        #expect(result.time < .seconds(2))
        #expect(result.files == (transfer == "resumed" ? ["film.part", "film.part.validator"] : []))
    }

    @Test(
        "A lifecycle group ends, with the request listed before or after the data-request service",
        arguments: ["before", "after"], transfers)
    func group(order: String, transfer: String) async throws {
        for signal in [SIGTERM, SIGINT] {
            check(try await end("lifecycle-program", [order, transfer], [signal]), transfer)
        }
    }

    @Test("A stream that may finish ends after the grace period if the data-request service shuts down first")
    func graceOfGroup() async throws {
        // The service's grace period is two seconds, the group's four.
        let result = try await end("lifecycle-program", ["before", "marked"])
        #expect(result.end.status == 0, "\(result.end.errors)")
        #expect(result.end.lines.last == "ended")
        #expect((.seconds(1.5)..<Duration.seconds(4)).contains(result.time), "\(result.time)")
    }

    @Test("A service that does not notice the shutdown of its group is cancelled after the group's grace period")
    func unwrapped() async throws {
        let result = try await end("lifecycle-program", ["unwrapped", "stream"])
        #expect(result.end.status != 0)
        #expect(result.end.errors.contains("cancelled"))
        #expect((.seconds(3.5)..<Duration.seconds(20)).contains(result.time), "\(result.time)")
    }

    @Test("A program without a group ends on a signal", arguments: transfers)
    func signals(transfer: String) async throws {
        for signal in [SIGTERM, SIGINT] { check(try await end("signal-program", [transfer], [signal]), transfer) }
    }

    @Test("A second signal ends the grace period of a program without a group")
    func second() async throws {
        // The grace period is thirty seconds.
        let result = try await end("signal-program", ["marked"], [SIGINT, SIGINT], after: .milliseconds(500))
        #expect(result.end.status == 0, "\(result.end.errors)")
        #expect((.milliseconds(500)..<Duration.seconds(10)).contains(result.time), "\(result.time)")
    }
}
