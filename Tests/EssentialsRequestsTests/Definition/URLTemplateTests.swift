import EssentialsHTTP
import EssentialsTestKit
import TestTools
import Testing

@testable import EssentialsRequests

@Suite("URL templates")
struct URLTemplateTests {
    private let id = 7

    @Test("A literal shows its values as braces, and a template its placeholders")
    func literals() {
        #expect(("users/\(id)/posts" as RequestPath).urlTemplate == "/users/{}/posts")
        #expect(("users/v\(id).\(id)" as RequestPath).urlTemplate == "/users/v{}.{}")
        #expect(("/a b//c/" as RequestPath).urlTemplate == "/a%20b/c")
        #expect(RequestPath(template: "users/{id}/posts", ["id": "a/b"]).urlTemplate == "/users/{id}/posts")
        #expect(RequestPath(template: "{a}/x{b}y", ["a": 1, "b": 2]).urlTemplate == "/{a}/x{b}y")
        #expect(RequestPath().urlTemplate == "/")
    }

    @Test("Written components are known; texts that may be values are not")
    func components() {
        #expect(
            RequestPath {
                "films"; "search"
            }.urlTemplate == "/films/search")
        #expect(
            RequestPath {
                "a/b"; "users/\(id)" as RequestPath
            }.urlTemplate == "/a%2Fb/users/{}")
        let text = "films"
        #expect(RequestPath { text }.urlTemplate == nil)
        #expect(
            RequestPath {
                "films"; id
            }.urlTemplate == "/films/{}")
        #expect(
            RequestPath {
                text; id
            }.urlTemplate == nil && RequestPath { text.prefix(2) }.urlTemplate == nil)
        #expect(RequestPath("films", "search").urlTemplate == nil && RequestPath(1, [2, 3]).urlTemplate == "/{}/{}/{}")
        #expect(("users/\(RequestPath { text })/x" as RequestPath).urlTemplate == nil)
    }

    @Test("A path in a path keeps its template")
    func nested() {
        let post = "posts/\(id)" as RequestPath
        #expect(("users/\(id)/\(post)/x" as RequestPath).urlTemplate == "/users/{}/posts/{}/x")
        #expect(("a\(post)b" as RequestPath).urlTemplate == "/aposts/{}b")
        #expect(
            RequestPath(template: "users/{id}/{post}", ["id": id, "post": post]).urlTemplate == "/users/{id}/posts/{}")
    }

    @Test("Written text is encoded, and a path that begins with a mark that joins the slash can be nested")
    func encoding() {
        #expect(("a b\(id)ä" as RequestPath).urlTemplate == "/a%20b{}%C3%A4")
        let joining = "users/\u{301}x\(id)" as RequestPath
        #expect(joining.urlTemplate == "/users/%CC%81x{}")
        #expect(("\(joining)/y" as RequestPath).urlTemplate == "/users/%CC%81x{}/y")
        #expect(("\(RequestPath { "\u{301}a"; id })/y" as RequestPath).urlTemplate == "/%CC%81a/{}/y")
    }

    @Test("Paths are equal whatever they were made from, and an invalid path has no template")
    func equality() {
        #expect("users/\(id)" as RequestPath == "users/7")
        #expect(Set(["users/\(id)" as RequestPath, "users/7", RequestPath("users", "7")]).count == 1)
        #expect(("users/{id}" as RequestPath).urlTemplate == nil)
        #expect(("users/{id}" as RequestPath) != "users")
    }

    @Test("Appended paths have the template of a slow model")
    func random() {
        var random = SeededNumbers(state: 11)
        for _ in 0..<400 {
            var (path, model) = (RequestPath(), [String]())
            for _ in 0..<Int.random(in: 0...12, using: &random) {
                var (part, texts) = (RequestPath(), [String]())
                for _ in 0..<Int.random(in: 0...12, using: &random) {
                    let value = Int.random(in: 0...999, using: &random)
                    let (next, text): (RequestPath, String) =
                        switch Int.random(in: 0...2, using: &random) {
                        case 0: ("w", "w")
                        case 1: ("\(value)", "{}")
                        default: (RequestPath(template: "n{id}", ["id": value]), "n{id}")
                        }
                    if part.isEmpty { part = next } else { part = "\(part)/\(next)" }
                    texts.append(text)
                }
                path.append(part)
                model += texts
            }
            #expect(path.urlTemplate == (model.count > 64 ? nil : "/" + model.joined(separator: "/")))
        }
    }

    @Test("A definition has the template of its whole path, and so has the request made from it")
    func definitions() throws {
        let get = APIRequest(.get, "\(id)/posts", parent: Users.self)
        #expect(get.urlTemplate == "/users/{}/posts")
        #expect(try get.build().urlTemplate == "/users/{}/posts")
        let named = APIRequest(.get, RequestPath(template: "{id}", ["id": id]), parent: Users.self)
        #expect(try named.build().urlTemplate == "/users/{id}")
        #expect(try APIRequest(.get, parent: Users.self).build().urlTemplate == "/users")
        #expect(try APIRequest(.get).build().urlTemplate == "/")
        var slash = APIRequest(.get, "\(id)", parent: Users.self)
        slash.configuration.appendsTrailingSlash = true
        #expect(try slash.build().urlTemplate == "/users/{}/")
        #expect(slash.urlTemplate == "/users/{}/")
        // The path of a whole URL can hold values.
        let whole = APIRequest<String>(.get, url: RequestBase(try RequestURL("https://news.example.com/feed.json")))
        #expect(whole.urlTemplate == nil)
        #expect(try whole.build().urlTemplate == nil)
        var wholeWithSlash = whole
        wholeWithSlash.configuration.appendsTrailingSlash = true
        #expect(try wholeWithSlash.build().urlTemplate == nil)
        #expect(try Search(text: "x").build().urlTemplate == "/films/search")
        // The path of the request may change afterwards. It is still the one that was defined.
        var request = try get.build()
        request.path = "v2/users/7/posts"
        #expect(request.urlTemplate == "/users/{}/posts")
    }

    @Test("A request and a builder have the template that they are given")
    func requests() throws {
        var request = DataRequest(.get, "users/7")
        #expect(request.urlTemplate == nil)
        request.urlTemplate = "users/{id}"
        #expect(request.urlTemplate == "/users/{id}")
        request.urlTemplate = nil
        #expect(request.urlTemplate == nil)
        let built = try RequestBuilder(.get, template: "users/{id}", ["id": "a/b"]).build()
        #expect(built.path == "users/a%2Fb" && built.urlTemplate == "/users/{id}")
        #expect(try RequestBuilder(.get, "users").urlTemplate("/users").build().urlTemplate == "/users")
        let failure = #expect(throws: RequestFailure.self) {
            try RequestBuilder(.get, template: "users/{id}", [:]).header("A", "b").build()
        }
        #expect(failure?.reason == .invalidRequest && failure?.message.contains("“id”") == true)
    }

    @Test("Observers see the template at the beginning and with each attempt, until a redirect leads elsewhere")
    func observing() async throws {
        let observed = try ObservedService { request in
            switch request.url.target {
            case "/users/7": .status(.found, [.location: "/users/7?again"])
            case "/users/7?again": .status(.found, [.location: "/archive/7"])
            default: .status(.ok, [:])
            }
        }
        _ = try await observed.service.send(APIRequest(.get, "\(id)", parent: Users.self))
        let seen = observed.timelines.all[0].events.compactMap { event -> String? in
            switch event.kind {
            case .began(let beginning): "began \(beginning.urlTemplate ?? "-")"
            case .prepared(let request): "prepared \(request.urlTemplate ?? "-")"
            case .sent(let request): "sent \(request.urlTemplate ?? "-")"
            default: nil
            }
        }
        #expect(seen == ["began /users/{}", "prepared /users/{}", "sent /users/{}", "sent /users/{}", "sent -"])
    }

    @Test("A validation in the background has the template of the call that was served, and a refused call has its own")
    func background() async throws {
        let fields: HTTPFields = [.cacheControl: "max-age=10, stale-while-revalidate=60"]
        let observed = try ObservedService {
            CacheOrigin.reply(to: $0, tag: "\"1\"", fields, body: "one")
        } _: {
            $0.cache = ResponseCache()
        }
        let request = try RequestBuilder(.get, template: "users/{id}", ["id": 7]).build()
        await observed.send(request)
        observed.origin.clock.advance(by: .seconds(20))
        await observed.send(request)
        await observed.ended(3)
        let background = try #require(observed.timelines.all.first { $0.call?.isBackground == true })
        let templates = background.events.compactMap { event -> String? in
            if case .sent(let request) = event.kind { request.urlTemplate ?? "-" } else { nil }
        }
        #expect(templates == ["/users/{id}"])
        await observed.service.shutdown()
        await observed.send(request)
        guard case .began(let refused)? = observed.timelines.all.last?.events.first?.kind else {
            Issue.record("no beginning")
            return
        }
        #expect(refused.urlTemplate == "/users/{id}")
    }

    private enum Users: Endpoint {
        typealias Parent = EnvironmentAPI
        static let path: RequestPath = "users"
    }

    private struct Search: ServiceRequest {
        let text: String
        var method: HTTPRequest.Method { .get }
        var pathComponents: RequestPath { "films"; "search" }
    }
}
