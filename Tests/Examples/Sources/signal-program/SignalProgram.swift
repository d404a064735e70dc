import Glibc
import ServiceEssentials

/// Runs one endless request, for tests that end it with a signal.
///
///     signal-program stream|marked|download|resumed URL FILE
///
/// `marked` is a stream that a shutdown lets finish. `resumed` is a download whose part is kept.
@main
struct SignalProgram {
    static func main() async throws {
        let words = Array(CommandLine.arguments.dropFirst())
        guard words.count == 3, let transfer = Transfer(rawValue: words[0]) else { exit(64) }
        let requests = try HTTPDataRequestService(environment: ConstantEnvironment(words[1]))
        let signals = endingSignals()
        let ending = Task {
            var grace = Duration.seconds(30)
            for await _ in signals {
                Task { [grace] in await requests.shutdown(grace: grace) }
                grace = .zero  // a second signal does not wait
            }
        }
        do throws(RequestFailure) {
            try await transfer.run(requests, words[2])
        } catch {
            guard requests.isClosed,
                error.reason == .cancelled || error.reason == .closed
            else { throw error }
        }
        ending.cancel()
        await requests.shutdown()
        print("ended")
    }
}
