import Glibc
import Testing

@testable import EssentialsReachability

@Suite struct ReachabilityStatusTests {
    private static let ethernet = NetworkInterface(name: "eth0", index: 2, kind: .ethernet)
    private static let modem = NetworkInterface(name: "wwan0", index: 3, kind: .wwan)
    private static let down = ReachabilityStatus.unreachable(RouteError(code: ENETDOWN))
    private static let noRoute = ReachabilityStatus.unreachable(RouteError(code: ENETUNREACH))

    @Test(
        "A status has a description",
        arguments: [
            (.unknown, "unknown"), (noRoute, "unreachable: Network is unreachable (101)"), (.local, "local"),
            (.direct(ethernet), "direct via eth0 (ethernet)"), (.routed(modem), "routed via wwan0 (wwan)"),
            (.unreachable(RouteError(code: 99_999)), "unreachable: error 99999 (99999)"),
        ] as [(ReachabilityStatus, String)])
    func description(status: ReachabilityStatus, text: String) {
        #expect(status.description == text)
    }

    @Test(
        "A host is reachable unless its status is unreachable or its interface is excluded",
        arguments: [
            (.unknown, true, true), (noRoute, false, false), (down, false, false), (.local, true, true),
            (.direct(ethernet), true, true), (.routed(ethernet), true, true), (.direct(modem), true, false),
            (.routed(modem), true, false),
        ] as [(ReachabilityStatus, Bool, Bool)])
    func preference(status: ReachabilityStatus, any: Bool, withoutMobileData: Bool) {
        #expect(status.isReachable() == any)
        #expect(status.isReachable(.withoutMobileData) == withoutMobileData)
    }

    @Test("A preference can exclude any kinds")
    func excluding() {
        let preference = ReachabilityPreference(excluding: [.ethernet, .tunnel])
        let allowed = NetworkInterface.Kind.allCases.filter { preference.allows($0) }
        #expect(allowed == [.loopback, .wireless, .wwan, .pointToPoint, .virtual, .other])
    }

    @Test(
        "The best status of several addresses is used: a route before unknown, unknown before unreachable",
        arguments: [
            ([], .unknown), ([noRoute], noRoute), ([noRoute, .unknown], .unknown),
            ([.unknown, .routed(modem), noRoute], .routed(modem)),
            ([.routed(modem), .direct(ethernet)], .direct(ethernet)),
            ([.direct(ethernet), .local, .routed(modem)], .local),
            ([.routed(modem), .routed(ethernet)], .routed(modem)), ([noRoute, down], down), ([down, noRoute], down),
            ([down, .unreachable(RouteError(code: EACCES))], down),
        ] as [([ReachabilityStatus], ReachabilityStatus)])
    func best(statuses: [ReachabilityStatus], best: ReachabilityStatus) {
        #expect(StatusRules.best(of: statuses) == best)
    }

    @Test("Only a status that uses an interface has one")
    func interface() {
        #expect(ReachabilityStatus.direct(Self.modem).interface == Self.modem)
        #expect(ReachabilityStatus.routed(Self.ethernet).interface == Self.ethernet)
        #expect([ReachabilityStatus.unknown, .local, Self.down].allSatisfy { $0.interface == nil })
    }
}
