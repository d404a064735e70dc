import EssentialsHTTP
import FoundationEssentials
import Synchronization

/// Gives prepared answers one after another, each with a streamed body, and keeps what it was asked.
final class ScriptedTransport: Transport {
    /// One answer.
    struct Answer: Sendable {
        var status = 200
        var fields: HTTPFields = [:]
        var pieces: [String] = []
        /// What ends the body early.
        var failure: RequestFailure?
        /// Called before the piece of this number is given.
        var beforePiece: @Sendable (Int) async -> Void = { _ in }

        init(
            _ status: Int = 200, _ fields: HTTPFields = [:], _ pieces: [String] = [], failure: RequestFailure? = nil,
            beforePiece: @escaping @Sendable (Int) async -> Void = { _ in }
        ) {
            self.status = status
            self.fields = fields
            self.pieces = pieces
            self.failure = failure
            self.beforePiece = beforePiece
        }
    }

    /// A body that counts how far it was read.
    private final class Pieces: ResponseBody.Source {
        private let answer: Answer
        private let given = Mutex(0)
        private let cancelled: Mutex<Int>

        init(_ answer: Answer) {
            self.answer = answer
            cancelled = Mutex(0)
        }

        var cancelCount: Int { cancelled.withLock { $0 } }

        func next() async throws(RequestFailure) -> BodyChunk? {
            let number = given.withLock { given in
                defer { given += 1 }
                return given
            }
            await answer.beforePiece(number)
            if number < answer.pieces.count { return BodyChunk(answer.pieces[number].utf8) }
            if let failure = answer.failure { throw failure }
            return nil
        }

        func cancel() { cancelled.withLock { $0 += 1 } }
    }

    private let answers: Mutex<[Answer]>
    private let asked = Mutex<[TransportRequest]>([])
    private let bodies = Mutex<[Pieces]>([])

    init(_ answers: Answer...) { self.answers = Mutex(answers) }

    /// What was asked so far.
    var requests: [TransportRequest] { asked.withLock { $0 } }
    /// How often each body was cancelled.
    var cancelCounts: [Int] { bodies.withLock { $0.map(\.cancelCount) } }

    func send(_ request: TransportRequest) async throws(RequestFailure) -> TransportResponse {
        asked.withLock { $0.append(request) }
        guard let answer = answers.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else {
            throw RequestFailure(.connection, "The script has no more answers.")
        }
        let source = Pieces(answer)
        bodies.withLock { $0.append(source) }
        return TransportResponse(
            HTTPResponse(status: HTTPResponse.Status(code: answer.status), headerFields: answer.fields),
            body: ResponseBody(source: source))
    }

    func shutdown() async {}
}

extension DownloadOptions {
    /// A file that is there is replaced.
    static let replacing: DownloadOptions = {
        var options = DownloadOptions()
        options.existing = .replace
        return options
    }()
}

extension TransportRequest {
    /// A GET of the file that these tests load.
    static func film(_ query: String = "") throws -> TransportRequest {
        TransportRequest(.get, try RequestURL("https://example.com/films/1.mp4" + query))
    }
}
