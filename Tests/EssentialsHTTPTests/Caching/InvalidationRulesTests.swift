import Testing

@testable import EssentialsHTTP

@Suite struct InvalidationRulesTests {
    typealias Fixtures = CacheFixtures

    private func disposition(_ method: String, _ status: Int, _ fields: HTTPFields = [:]) throws -> CacheDisposition {
        let method = try #require(HTTPRequest.Method(method))
        return Fixtures.disposition(Fixtures.response(status, fields), to: Fixtures.request(method: method))
    }

    @Test(
        "K21: A method that is not known to be safe removes what is stored, also for requests that bypass the cache",
        arguments: ["POST", "PUT", "DELETE", "PATCH", "M-SEARCH", "LOCK", "FOO", "get", "Propfind"])
    func unsafe(method: String) throws {
        for status in [200, 204, 299, 301, 303, 399] {
            #expect(try disposition(method, status) == .invalidate([Fixtures.url("/dir/file")]))
        }
        for status in [100, 199, 400, 404, 500, 599] {
            #expect(try disposition(method, status).reason != nil)
        }
        let bypassing = Fixtures.request(method: try #require(HTTPRequest.Method(method)), policy: .bypass)
        #expect(
            Fixtures.disposition(Fixtures.response(200, [:]), to: bypassing)
                == .invalidate([Fixtures.url("/dir/file")]))
    }

    @Test(
        "K21: A safe method removes nothing", arguments: ["OPTIONS", "TRACE", "QUERY", "PROPFIND", "REPORT", "SEARCH"])
    func safe(method: String) throws { #expect(try disposition(method, 200).reason == .method) }

    @Test(
        "K21: Location and Content-Location of the same origin are removed too",
        arguments: [
            ([.location: "other"], ["/dir/other"]), ([.contentLocation: "/x?a#b"], ["/x?a"]),
            ([.location: "https://a.example:443/y", .contentLocation: "?z"], ["/y", "/dir/file?z"]),
            ([.location: "https://b.example/y"], []), ([.location: "http://a.example/y"], []),
            ([.location: "https://a.example:444/y"], []), ([.location: "//b.example/y"], []),
            ([.location: "file"], []), ([.location: ""], []), ([.location: "https://u@a.example/y"], []),
            ([.location: "%"], []), ([.location: "ftp://a.example/y"], []),
        ] as [(HTTPFields, [String])])
    func others(fields: HTTPFields, targets: [String]) throws {
        #expect(try disposition("POST", 201, fields) == .invalidate((["/dir/file"] + targets).map { Fixtures.url($0) }))
    }
}
