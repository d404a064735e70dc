// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]
let warnings: [CSetting] = [.unsafeFlags(["-Wall", "-Wextra"])]

var dependencies: [Package.Dependency] = [.package(name: "ServiceEssentials", path: "../..")]
var targets: [Target] = [
    .target(name: "ClientHarness", cSettings: warnings),
    .target(
        name: "LimitClient", dependencies: ["ClientHarness"], cSettings: warnings,
        linkerSettings: [.linkedLibrary("curl")]),
    .executableTarget(name: "bench-limit", dependencies: ["LimitClient"], cSettings: warnings),
    .executableTarget(name: "bench-limit-tuned", dependencies: ["LimitClient"], cSettings: warnings),
    .executableTarget(name: "bench-limit-handed", dependencies: ["LimitClient"], cSettings: warnings),
    .executableTarget(name: "bench-server", dependencies: ["ClientHarness"], cSettings: warnings),
    .target(name: "LoadDriver", dependencies: ["ClientHarness"], swiftSettings: settings),
    .executableTarget(
        name: "bench-ours",
        dependencies: [
            "LoadDriver",
            .product(name: "EssentialsCurl", package: "ServiceEssentials"),
            .product(name: "EssentialsTransport", package: "ServiceEssentials"),
        ],
        swiftSettings: settings),
    .executableTarget(
        name: "bench-service",
        dependencies: ["LoadDriver", .product(name: "ServiceEssentials", package: "ServiceEssentials")],
        swiftSettings: settings),
    .target(name: "Figures", swiftSettings: settings),
    .target(name: "ThreadCounters", cSettings: warnings),
    .executableTarget(
        name: "bench-locator",
        dependencies: [
            "Figures", "ThreadCounters", .product(name: "EssentialsLocator", package: "ServiceEssentials"),
        ],
        swiftSettings: settings),
    .target(
        name: "TrustFloor", cSettings: warnings, linkerSettings: [.linkedLibrary("ssl"), .linkedLibrary("crypto")]),
    .executableTarget(
        name: "bench-trust",
        dependencies: [
            "TrustFloor",
            .product(name: "EssentialsCurl", package: "ServiceEssentials"),
            .product(name: "EssentialsHTTP", package: "ServiceEssentials"),
            .product(name: "EssentialsTestKit", package: "ServiceEssentials"),
        ],
        swiftSettings: settings),
    .executableTarget(
        name: "bench-requests",
        dependencies: [
            "Figures", "LoadDriver", "ThreadCounters",
            .product(name: "EssentialsCurl", package: "ServiceEssentials"),
            .product(name: "EssentialsHTTP", package: "ServiceEssentials"),
            .product(name: "EssentialsInspector", package: "ServiceEssentials"),
            .product(name: "EssentialsObservability", package: "ServiceEssentials"),
            .product(name: "EssentialsRequests", package: "ServiceEssentials"),
            .product(name: "ServiceEssentials", package: "ServiceEssentials"),
        ],
        swiftSettings: settings),
    .executableTarget(
        name: "bench-resources",
        dependencies: [
            "Figures", "ThreadCounters", .product(name: "EssentialsFetching", package: "ServiceEssentials"),
            .product(name: "EssentialsResources", package: "ServiceEssentials"),
        ],
        swiftSettings: settings),
    .executableTarget(
        name: "bench-stages",
        dependencies: [
            "Figures", "ThreadCounters",
            .product(name: "EssentialsRequests", package: "ServiceEssentials"),
            .product(name: "EssentialsTestKit", package: "ServiceEssentials"),
        ],
        swiftSettings: settings),
    .executableTarget(
        name: "bench-cache",
        dependencies: [
            "Figures", "ThreadCounters",
            .product(name: "EssentialsCurl", package: "ServiceEssentials"),
            .product(name: "EssentialsRequests", package: "ServiceEssentials"),
            .product(name: "EssentialsTestKit", package: "ServiceEssentials"),
        ],
        swiftSettings: settings),
    .executableTarget(name: "run-benchmarks", swiftSettings: settings),
    // Not a benchmark; it is in this package because this package is built with optimization.
    .executableTarget(
        name: "fuzz-responses",
        dependencies: [
            "Figures", .product(name: "ServiceEssentials", package: "ServiceEssentials"),
            .product(name: "EssentialsTestKit", package: "ServiceEssentials"),
        ],
        swiftSettings: settings),
]

// The compared clients are built on demand only, so that a smoke run needs neither them nor the network.
if Context.environment["BENCHMARK_PEERS"] == "1" {
    dependencies += [
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    ]
    targets += [
        .executableTarget(
            name: "bench-ahc",
            dependencies: [
                "LoadDriver",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            swiftSettings: settings),
        .executableTarget(name: "bench-urlsession", dependencies: ["LoadDriver"], swiftSettings: settings),
    ]
}

// The compared locator has its own variable, because nothing else needs it.
if Context.environment["BENCHMARK_LOCATOR_PEERS"] == "1",
    let locator = targets.first(where: { $0.name == "bench-locator" })
{
    dependencies.append(.package(url: "https://github.com/Swinject/Swinject", from: "2.10.0"))
    locator.dependencies.append(.product(name: "Swinject", package: "Swinject"))
    locator.swiftSettings = settings + [.define("LOCATOR_PEERS")]
}

// Persistence needs GRDB, which is also what it is compared with. One trait is enabled for all programs.
if Context.environment["BENCHMARK_STORE"] == "1" {
    dependencies[0] = .package(name: "ServiceEssentials", path: "../..", traits: ["Persistence"])
    dependencies.append(.package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"))
    targets.append(
        .executableTarget(
            name: "bench-store",
            dependencies: [
                "Figures", "ThreadCounters", .product(name: "EssentialsPersistence", package: "ServiceEssentials"),
                .product(name: "EssentialsSQLite", package: "ServiceEssentials"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: settings))
}

// Backends of metrics and traces need a trait too.
if Context.environment["BENCHMARK_SERVER"] == "1",
    let requests = targets.first(where: { $0.name == "bench-requests" })
{
    dependencies[0] = .package(name: "ServiceEssentials", path: "../..", traits: ["Server"])
    dependencies += [
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    ]
    requests.dependencies += [
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "Tracing", package: "swift-distributed-tracing"),
    ]
    requests.swiftSettings = settings + [.define("BENCHMARK_SERVER")]
}

let package = Package(
    name: "Benchmarks",
    dependencies: dependencies,
    targets: targets,
    swiftLanguageModes: [.v6],
    cLanguageStandard: .gnu11
)
