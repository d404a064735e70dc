import EssentialsHTTP
import EssentialsRequests
import Testing

/// Types of an application.
private struct Query: Equatable { var text: String }
private struct Headers: Equatable { var count: Int }
private struct Header: Equatable { var name: String }
private struct Body: Equatable { var size: Int }
private struct PathComponents: Equatable { var depth: Int }
private struct Properties: Equatable { var count: Int }
private struct HTTPMethod: Equatable { var code: Int }

private enum Shop: APIService {
    static let baseURL: RequestBase = "https://h.example"
    static let own = (Headers(count: 1), Header(name: "a"), Body(size: 2), PathComponents(depth: 3))
    static var limits: Properties { Properties(count: 4) }
    static var query: QueryItems { ["a": "1"] }

    static let find = request(.get) {
        RequestPath { "films" }
        RequestQuery { query }
        RequestHeaders { RequestHeader.accept(.json) }
    }
}

private struct Search: ServiceRequest {
    typealias Parent = Shop
    let query: Query
    let code: HTTPMethod
    var method: HTTPRequest.Method { .get }
    var queryItems: RequestQuery { ("q", query.text) }
    var body: RequestContent { RequestContent() }
}

@Suite("Names in definitions")
struct DefinitionNameTests {
    @Test("Types of an application keep their names inside of services, endpoints and requests")
    func names() throws {
        #expect(Shop.own == (Headers(count: 1), Header(name: "a"), Body(size: 2), PathComponents(depth: 3)))
        #expect(Shop.limits == Properties(count: 4))
        #expect(Shop.find.target == "/films?a=1")
        let search = Search(query: Query(text: "x"), code: HTTPMethod(code: 1))
        #expect(search.definition.target?.hasSuffix("?q=x") == true)
        #expect(search.code == HTTPMethod(code: 1))
    }
}
