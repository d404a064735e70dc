import EssentialsHTTP
import EssentialsTools
import FoundationEssentials

/// Returns prepared responses in order, each with a streamed body, and records the requests.
final class ScriptedTransport: Transport {
    /// A prepared response.
    struct Response: Sendable {
        var status = 200
        var fields: HTTPFields = [:]
        var pieces: [String] = []
        /// The failure that ends the body early.
        var failure: RequestFailure?
        /// Called before the chunk with this number is delivered.
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

    /// A body that counts how much of it was read.
    private final class Pieces: ResponseBody.Source {
        private let response: Response
        private let given = Mutex(0)
        private let cancelled: Mutex<Int>

        init(_ response: Response) {
            self.response = response
            cancelled = Mutex(0)
        }

        var cancelCount: Int { cancelled.withLock { $0 } }

        func next() async throws(RequestFailure) -> BodyChunk? {
            let number = given.withLock { given in
                defer { given += 1 }
                return given
            }
            await response.beforePiece(number)
            if number < response.pieces.count { return BodyChunk(response.pieces[number].utf8) }
            if let failure = response.failure { throw failure }
            return nil
        }

        func cancel() { cancelled.withLock { $0 += 1 } }
    }

    private let responses: Mutex<[Response]>
    private let asked = Mutex<[TransportRequest]>([])
    private let bodies = Mutex<[Pieces]>([])

    init(_ responses: [Response]) { self.responses = Mutex(responses) }

    convenience init(_ responses: Response...) { self.init(responses) }

    /// The recorded requests.
    var requests: [TransportRequest] { asked.withLock { $0 } }
    /// The number of cancellations of each body.
    var cancelCounts: [Int] { bodies.withLock { $0.map(\.cancelCount) } }

    func send(_ request: TransportRequest) async throws(RequestFailure) -> TransportResponse {
        asked.withLock { $0.append(request) }
        guard let response = responses.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else {
            throw RequestFailure(.connection, "The script has no more responses.")
        }
        let source = Pieces(response)
        bodies.withLock { $0.append(source) }
        return TransportResponse(
            HTTPResponse(status: HTTPResponse.Status(code: response.status), headerFields: response.fields),
            body: ResponseBody(source: source))
    }

    func shutdown() async {}
}

extension DownloadOptions {
    /// Options that replace an existing file.
    static let replacing: DownloadOptions = {
        var options = DownloadOptions()
        options.existing = .replace
        return options
    }()
}

extension TransportRequest {
    /// A GET request for the file that these tests download.
    static func film(_ query: String = "") throws -> TransportRequest {
        TransportRequest(.get, try RequestURL("https://example.com/films/1.mp4" + query))
    }
}
