// swift-format-ignore-file
// The code stands as in the documentation comments.

import Dispatch
import EssentialsLocator
import EssentialsReachability

private let app = Application()
private let (log, banner, downloads, retryNow, startSync) = (app, app, app, app, app)
private let locator = ServiceLocator(name: "app")
private var reachability: any ReachabilityService { given() }
private var tracker: ReachabilityTracker { get { given() } set {} }
private var observation: ReachabilityObservation? { get { nil } set {} }
private struct Settings { var allowsMobileData = false }
private let settings = Settings()

// ReachabilityError.swift
private func reachabilityErrorExample() async {
    do throws(ReachabilityError) {
        tracker = try ReachabilityTracker(host: "api.example.com")
    } catch {
        log(error.message, error.remedy)
    }
}

// ReachabilityObservation.swift
private func reachabilityObservationExample() async throws {
    observation = tracker.observe(on: .main) { status in banner.show(status) }
    observation = nil        // the handler is no longer called
}

// ReachabilityService.swift
private func reachabilityServiceExample() async throws {
    try locator.registerLazy((any ReachabilityService).self) { _ in
        try ReachabilityTracker(host: "api.example.com")
    }

    let reachability = try locator.resolve((any ReachabilityService).self)
    for await status in reachability.statuses where status.isReachable() { retryNow() }
}

// ReachabilityStatus.swift
private func reachabilityStatusExample() async throws {
    switch tracker.status {
    case .unreachable(let error): banner.show("Offline: \(error)")
    case .routed(let interface) where interface.kind == .wwan: downloads.pause()
    default: banner.hide()
    }
}

// ReachabilityStatus.swift
private func reachabilityStatusExample2() async throws {
    let preference: ReachabilityPreference = settings.allowsMobileData ? .any : .withoutMobileData
    if reachability.isReachable(preference) { startSync() }
}

// ReachabilityTarget.swift
@Listed private func reachabilityTargetExample() async throws -> [Any] {
    try ReachabilityTarget("api.example.com")
    try ReachabilityTarget("2001:db8::1")
    ReachabilityTarget.defaultRoute
}

// ReachabilityTracker.swift
private func reachabilityTrackerExample() async throws {
    let tracker = try ReachabilityTracker(host: "api.example.com")
    let observation = tracker.observe(on: .main) { status in banner.show(status) }
    for await status in tracker.statuses where status.isReachable() { retryNow() }
    tracker.stop()
    use(observation)
}

// Resolving/AddressResolver.swift
private func addressResolverExample() async throws {
    struct Table: AddressResolver {
        let addresses: [String: [NetworkAddress]]
        func addresses(of name: String) async throws -> [NetworkAddress] { addresses[name] ?? [] }
    }
}

// Resolving/NetworkAddress.swift
@Listed private func networkAddressExample() async throws -> [Any] {
    NetworkAddress("192.0.2.1")
    NetworkAddress("[2001:db8::1]")
    NetworkAddress("fe80::1%eth0")
}
