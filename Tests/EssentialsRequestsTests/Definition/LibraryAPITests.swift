import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Testing

@Suite("A realistic API")
struct LibraryAPITests {
    /// A library in memory.
    private final class Library: Sendable {
        private struct State {
            var books = [1: "Emma", 2: "Ulysses", 3: "Faust"]
            var covers: [Int: [UInt8]] = [:]
            var loans: [Int] = []
        }
        private let state = Mutex(State())

        func reply(to request: ServerRequest) -> ServerReply {
            if request.method == "HEAD" { return .response() }
            guard request.header("X-Client") == "library/1" else { return .json("{}", status: 400) }
            if request.path == "/api/session", request.method == "POST" {
                return request.header("Authorization") == nil && request.bodyText == #"{"user_name":"ada"}"#
                    ? .json(#"{"access_token":"t"}"#, status: 201) : .json(#"{"error_code":"login"}"#, status: 400)
            }
            guard request.header("Authorization") == "Bearer t" else {
                return .json(#"{"error_code":"token"}"#, status: 401, headers: [("WWW-Authenticate", "Bearer")])
            }
            let parts = request.path.split(separator: "/").dropFirst().map(String.init)
            return state.withLock { state in
                switch parts.first {
                case "session": .response(status: 204)
                case "books": Self.books(request, Array(parts.dropFirst()), &state)
                case "members": Self.members(request, Array(parts.dropFirst()), &state)
                default: .json(#"{"error_code":"path"}"#, status: 404)
                }
            }
        }

        private static func json(_ id: Int, _ title: String) -> String { #"{"full_title":"\#(title)","id":\#(id)}"# }

        private static func books(_ request: ServerRequest, _ parts: [String], _ state: inout State) -> ServerReply {
            let list = state.books.sorted { $0.key < $1.key }
            guard let first = parts.first else {
                if request.method == "POST" { return .json(request.bodyText, status: 201) }
                return .json("[" + list.map { json($0.key, $0.value) }.joined(separator: ",") + "]")
            }
            if first == "search" {
                let page = request.query("page").flatMap { Int($0) } ?? 1
                let next = page < 3 ? [("Link", "<?q=a&page=\(page + 1)>; rel=next")] : []
                return .json("[" + json(list[page - 1].key, list[page - 1].value) + "]", headers: next)
            }
            guard let id = Int(first), let title = state.books[id] else {
                return .json(#"{"error_code":"no_book"}"#, status: 404)
            }
            switch (request.method, parts.count) {
            case ("PUT", 2):
                state.covers[id] = request.header("Content-Type") == "image/png" ? request.body : nil
                return .response(status: 204)
            case ("GET", 2): return .response(headers: [("Content-Type", "image/png")], body: state.covers[id] ?? [])
            case ("DELETE", _):
                state.books[id] = nil
                return .response(status: 204)
            case ("PATCH", _): return .json(#"{"id":\#(id),"# + String(request.bodyText.dropFirst()))
            default: return .json(json(id, title))
            }
        }

        private static func members(_ request: ServerRequest, _ parts: [String], _ state: inout State) -> ServerReply {
            guard parts.count > 1, parts[0] == "a%2Fb" else { return .json(#"{"error_code":"member"}"#, status: 404) }
            switch (request.method, parts[1]) {
            case ("GET", "next"):
                return state.loans.isEmpty ? .response(status: 204) : .json(#"{"book_id":\#(state.loans[0])}"#)
            case ("GET", _): return .json("[" + state.loans.map { #"{"book_id":\#($0)}"# }.joined(separator: ",") + "]")
            case ("DELETE", _):
                state.loans.removeAll { "\($0)" == parts.last }
                return .response(status: 204)
            default:
                guard state.loans.isEmpty else {
                    return .json(#"{"error_code":"limit"}"#, status: 429, headers: [("Retry-After", "60")])
                }
                state.loans.append(2)
                return .json(request.bodyText, status: 201)
            }
        }
    }

    private func withLibrary(
        _ body: (HTTPDataRequestService, LibraryAPI, LoopbackServer) async throws -> Void
    ) async throws {
        let library = Library()
        try await withServer({ library.reply(to: $0) }) { service, server in
            try await body(service, LibraryAPI(baseURL: RequestBase(server.url + "/api")), server)
        }
    }

    @Test("A client logs in, and its requests carry the token until it logs out")
    func session() async throws {
        try await withLibrary { service, api, _ in
            let refused = await #expect(throws: RequestFailure.self) { try await service.send(api.books.all) }
            #expect(refused?.status == .unauthorized)
            #expect(refused?.errorModel(as: LibraryAPI.Problem.self)?.errorCode == "token")
            var api = api
            api.token = "old"
            api.token = try await service.send(api.logIn("ada")).accessToken
            #expect(try await service.send(api.books.all).count == 3)
            try await service.send(api.logOut)
            #expect(try await service.send(api.health).head.status == .ok)
        }
    }

    @Test("Books are listed, searched page by page, created, renamed and removed")
    func books() async throws {
        try await withLibrary { service, api, server in
            let books = LibraryAPI(baseURL: api.baseURL, token: "t").books
            #expect(try await service.send(books.get(1)) == .init(id: 1, fullTitle: "Emma"))
            #expect(try await service.send(books.create(.init(id: 9, fullTitle: "Ö"))) == .init(id: 9, fullTitle: "Ö"))
            #expect(try await service.send(books.rename(1, to: "E'm\"ma")).fullTitle == "E'm\"ma")
            var found: [String] = []
            for try await page in service.pages(of: books.search("a", tags: ["x&y", "z"])) {
                found += page.model.map(\.fullTitle)
            }
            #expect(found == ["Emma", "Ulysses", "Faust"])
            #expect(server.requests.contains { $0.target == "/api/books/search?q=a&tag=x%26y&tag=z" })
            try await service.send(books.remove(1))
            let gone = await #expect(throws: RequestFailure.self) { try await service.send(books.get(1)) }
            #expect(gone?.status == .notFound)
            #expect(gone?.errorModel(as: LibraryAPI.Problem.self)?.errorCode == "no_book")
        }
    }

    @Test("A cover is uploaded with its type and comes back unchanged")
    func cover() async throws {
        try await withLibrary { service, api, server in
            let books = LibraryAPI(baseURL: api.baseURL, token: "t").books
            let image = Data((0...255).map { $0 })
            try await service.send(books.setCover(2, image))
            #expect(try await service.send(books.cover(2)) == image)
            #expect(server.requests.last?.allHeaders("Accept") == ["application/octet-stream"])
        }
    }

    @Test("Loans of a member with a slash in its name are made until the limit, and given back")
    func loans() async throws {
        try await withLibrary { service, api, _ in
            let members = LibraryAPI(baseURL: api.baseURL, token: "t").members
            let loans = members.loans(of: "a/b")
            #expect(try await service.send(members.next("a/b")) == nil)
            #expect(try await service.send(loans.borrow(2)).bookID == 2)
            #expect(try await service.send(members.next("a/b"))?.bookID == 2)
            let limit = await #expect(throws: RequestFailure.self) { try await service.send(loans.borrow(2)) }
            #expect(limit?.status == .tooManyRequests)
            #expect(limit?.retryAfter() == .seconds(60))
            #expect(try await service.send(loans.all).map(\.bookID) == [2])
            try await service.send(loans.giveBack(2))
            #expect(try await service.send(loans.all).isEmpty)
        }
    }
}
