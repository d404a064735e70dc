import Testing

@testable import EssentialsHTTP

@Suite struct CacheStatusTests {
    @Test("A hit has the time that is left, rounded down")
    func hits() {
        #expect(CacheStatus(hitFor: .seconds(376)).text == "ServiceEssentials; hit; ttl=376")
        #expect(CacheStatus(hitFor: .milliseconds(1_900)).text == "ServiceEssentials; hit; ttl=1")
        #expect(CacheStatus(hitFor: .milliseconds(-100)).text == "ServiceEssentials; hit; ttl=-1")
        #expect(CacheStatus(hitFor: .seconds(-412)).description == "ServiceEssentials; hit; ttl=-412")
    }

    @Test("The examples of RFC 9211, 3")
    func examples() {
        func text(
            _ reason: ForwardReason, status: Int? = nil, isStored: Bool = false, isCollapsed: Bool = false
        ) -> String {
            CacheStatus(forwarded: reason, status: status, isStored: isStored, isCollapsed: isCollapsed).text
        }
        #expect(text(.uriMiss) == "ServiceEssentials; fwd=uri-miss")
        #expect(text(.stale, status: 304, isStored: true) == "ServiceEssentials; fwd=stale; fwd-status=304; stored")
        #expect(
            text(.varyMiss, isStored: true, isCollapsed: true) == "ServiceEssentials; fwd=vary-miss; stored; collapsed")
        #expect(text(.bypass) == "ServiceEssentials; fwd=bypass")
    }

    @Test("The reason why a response was not stored is a quoted string")
    func detail() {
        let status = CacheStatus(
            forwarded: .request, status: 200, timeLeft: .seconds(5), detail: NotStoredReason("a \"b\\ \u{e9}"))
        #expect(
            status.text == #"ServiceEssentials; fwd=request; fwd-status=200; ttl=5; detail="a \"b\\ ??""#)
    }
}
