// swift-format-ignore-file
// The code stands as in the documentation comments.

import Dispatch
import EssentialsTestKit
import FoundationEssentials
import Glibc
import Logging
import ServiceEssentials
import Testing

@testable import EssentialsRequests

private struct StagingShop: APIService { let baseURL: RequestBase }
private let staging = StagingShop(baseURL: "https://staging.example.com/v1/")

private let app = Application()
private let retryNow = app
private let locator = ServiceLocator(name: "app")
private var configuration: HTTPDataRequestService.Configuration { get { given() } set {} }
private var environment: MutableEnvironment { given() }
private var reachability: any ReachabilityService { given() }
private var url: RequestURL { given() }

// Environment/ConstantEnvironment.swift
private func constantEnvironmentExample() async throws {
    let environment = try ConstantEnvironment("https://api.example.com/v1/")
    let fromVariables = try ConstantEnvironment(reading: { ProcessInfo.processInfo.environment[$0] })
    use(environment, fromVariables)
}

// Environment/ConstantEnvironment.swift
private func constantEnvironmentExample2() async throws {
    let environment = try ConstantEnvironment(reading: { getenv($0).map { String(cString: $0) } }, prefix: "SHOP")
    use(environment)
}

// Environment/EnvironmentReachability.swift
private func environmentReachabilityExample() async throws {
    try locator.registerLazy((any ReachabilityService).self) { locator in
        try EnvironmentReachability(locator.resolve((any EnvironmentService).self))
    }
    for await status in reachability.statuses where status.isReachable() { retryNow() }
}

// Environment/EnvironmentService.swift
private func environmentServiceExample() async throws {
    struct Staging: EnvironmentService {
        let baseURL: RequestURL
        let headerFields: HTTPFields = [:]
    }
}

// Environment/EnvironmentSnapshot.swift
private func environmentSnapshotExample() async throws {
    let staging = EnvironmentSnapshot(name: "staging", baseURL: try RequestURL("https://staging.example.com/v1/"))
    use(staging)
}

// Environment/MutableEnvironment.swift
private func mutableEnvironmentExample() async throws {
    let environment = try MutableEnvironment("https://api.example.com/v1/")
    try environment.set(baseURL: "https://backup.example.com/v1/")
}

// Environment/PathRules.swift
private func pathRulesExample() async throws {
    configuration.pathResolution = .rfc3986
}

// Environment/SwitchableEnvironment.swift
private func switchableEnvironmentExample() async throws {
    let environment = try SwitchableEnvironment(
        [
            EnvironmentSnapshot(name: "production", baseURL: RequestURL("https://api.example.com/v1/")),
            EnvironmentSnapshot(name: "staging", baseURL: RequestURL("https://staging.example.com/v1/")),
        ])
    try environment.select("staging")
}

// Environment/VersionedSnapshot.swift
private func versionedSnapshotExample() async throws {
    var kept = VersionedSnapshot(of: environment)
    // on each use:
    if !kept.isCurrent(in: environment) { kept = VersionedSnapshot(of: environment) }
    let base = kept.snapshot.baseURL
    use(base)
}
