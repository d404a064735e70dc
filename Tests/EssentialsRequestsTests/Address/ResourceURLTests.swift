import EssentialsHTTP
import Testing

@testable import EssentialsRequests

@Suite struct ResourceURLTests {
    @Test("A URL that can be loaded gives its request's URL, and one that cannot throws why")
    func requestURL() throws {
        let base = ResourceBase(try RequestURL("https://example.com/v1"))
        #expect(try base.url(path: "a b").requestURL() == RequestURL("https://example.com/v1/a%20b"))
        let faults: [(ResourceURL, String)] = [
            (ResourceBase.missing.url(path: "a"), "base URL"), (base.url(whole: nil), "no URL"),
            (base.url(path: ".."), "segment"), (base.url(whole: "ftp://example.com/"), "scheme"),
            (base.url(whole: "https://u@example.com/"), "credentials"),
            (base.url(path: String(repeating: "a", count: 70_000)), "longer"),
        ]
        for (url, word) in faults {
            let failure = try #require(throws: RequestFailure.self) { try url.requestURL() }
            #expect(failure.reason == .invalidRequest)
            #expect(failure.message.contains(word), "\(failure.message)")
            #expect(url.failure?.message == failure.message)
            #expect(!url.isBelowBase && !url.isForeign)
        }
    }
}
