// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("ExistentialAny"),
]

let essentials: Target.Dependency = .product(name: "ServiceEssentials", package: "ServiceEssentials")
let testKit: Target.Dependency = .product(name: "EssentialsTestKit", package: "ServiceEssentials")
let arguments: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")
let hummingbird: Target.Dependency = .product(name: "Hummingbird", package: "hummingbird")
let lifecycle: Target.Dependency = .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let signals: Target.Dependency = .product(name: "UnixSignals", package: "swift-service-lifecycle")
let configuration: Target.Dependency = .product(name: "Configuration", package: "swift-configuration")
let observability: [Target.Dependency] = [
    .product(name: "EssentialsObservability", package: "ServiceEssentials"),
    .product(name: "EssentialsInspector", package: "ServiceEssentials"),
]
let telemetry: [Target.Dependency] = [
    .product(name: "CoreMetrics", package: "swift-metrics"),
    .product(name: "Tracing", package: "swift-distributed-tracing"),
]
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")

let package = Package(
    name: "Examples",
    dependencies: [
        .package(name: "ServiceEssentials", path: "../..", traits: [.defaults, "Inspector"]),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: ["CommandLineArguments"]),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .executableTarget(name: "status-client", dependencies: [essentials, arguments], swiftSettings: settings),
        .executableTarget(
            name: "shop-server",
            dependencies: [essentials, hummingbird, lifecycle, logging, configuration, "Telemetry"] + telemetry
                + observability,
            swiftSettings: settings),
        // Backends of metrics and traces, small enough to read.
        .target(name: "Telemetry", dependencies: telemetry, swiftSettings: settings),
        .executableTarget(
            name: "feed-daemon", dependencies: [essentials, lifecycle, logging, signals], swiftSettings: settings),
        .executableTarget(
            name: "lifecycle-program", dependencies: [essentials, lifecycle, logging, signals],
            swiftSettings: settings),
        .executableTarget(name: "signal-program", dependencies: [essentials], swiftSettings: settings),
        .target(
            name: "Names",
            dependencies: [
                essentials, hummingbird, logging,
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "ExamplesTests",
            dependencies: [
                essentials, testKit, configuration, lifecycle, logging, signals, "shop-server", "Telemetry", "Names",
            ] + telemetry + observability,
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
