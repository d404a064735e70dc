import Glibc
import ServiceEssentials

/// An endless request of a test program.
enum Transfer: String {
    case stream, marked, download, resumed

    /// Runs until it is cancelled, and prints a line when it has begun.
    func run(_ requests: HTTPDataRequestService, _ file: String) async throws(RequestFailure) {
        switch self {
        case .stream, .marked:
            let request = RequestBuilder(.get, "events").streaming().finishingOnShutdown(self == .marked)
            for try await line in try await requests.send(request).body.lines() { Self.show(line) }
        case .download, .resumed:
            var options = DownloadOptions()
            options.resumes = self == .resumed
            let report = ProgressReport(every: .zero) { if $0.bytes > 0 { Self.show("\($0.bytes) bytes") } }
            try await requests.download("film", to: file, options: options, progress: report)
        }
    }

    private static func show(_ line: String) {
        print(line)
        fflush(nil)
    }
}
