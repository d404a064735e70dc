// swift-tools-version: 6.2
import Foundation
import PackageDescription

var settings: [SwiftSetting] = [
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

// The thread sanitizer does not see the standard library's mutex; builds for it use one that it sees.
if Context.environment["ESSENTIALS_THREAD_SANITIZER"] != nil {
    settings.append(.define("ESSENTIALS_THREAD_SANITIZER"))
}

// A package that disables the traits does not fetch the packages that only they need. One trait is enabled at a time:
// SwiftPM passes several to the compiler in a random order, and then every second build compiles everything again.
let requests: TargetDependencyCondition? = .when(
    traits: ["Requests", "Tool", "OpenCombine", "Persistence", "Server", "Inspector"])
let httpTypes: Target.Dependency = .product(name: "HTTPTypes", package: "swift-http-types", condition: requests)
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log", condition: requests)

let openCombine: Target.Dependency = .product(
    name: "OpenCombine", package: "OpenCombine", condition: .when(traits: ["OpenCombine"]))
// The condition is on every use, in tests too. A single use without it would fetch the package for everybody.
let grdb: Target.Dependency = .product(
    name: "GRDB", package: "GRDB.swift", condition: .when(traits: ["Persistence"]))

func server(_ name: String, of package: String) -> Target.Dependency {
    .product(name: name, package: package, condition: .when(traits: ["Server", "Inspector"]))
}
let configuration = server("Configuration", of: "swift-configuration")
func lifecycle(_ name: String) -> Target.Dependency { server(name, of: "swift-service-lifecycle") }
// The core without the router, which the inspector's routes do not need.
let inspectorServer: [Target.Dependency] = [
    ("HummingbirdCore", "hummingbird"), ("HummingbirdTLS", "hummingbird"), ("NIOCore", "swift-nio"),
    ("NIOPosix", "swift-nio"), ("NIOSSL", "swift-nio-ssl"),
].map { .product(name: $0, package: $1, condition: .when(traits: ["Inspector"])) }

let package = Package(
    name: "ServiceEssentials",
    // Only EssentialsTools, EssentialsLocator, EssentialsStorage, EssentialsTransport and EssentialsHTTP build elsewhere
    // than on Linux; these platforms have the `Synchronization` module.
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "ServiceEssentials", targets: ["ServiceEssentials"]),
        .library(name: "EssentialsLocator", targets: ["EssentialsLocator"]),
        .library(name: "EssentialsTransport", targets: ["EssentialsTransport"]),
        .library(name: "EssentialsHTTP", targets: ["EssentialsHTTP"]),
        .library(name: "EssentialsCurl", targets: ["EssentialsCurl"]),
        .library(name: "EssentialsReachability", targets: ["EssentialsReachability"]),
        .library(name: "EssentialsRequests", targets: ["EssentialsRequests"]),
        .library(name: "EssentialsFetching", targets: ["EssentialsFetching"]),
        .library(name: "EssentialsResources", targets: ["EssentialsResources"]),
        .library(name: "EssentialsObservation", targets: ["EssentialsObservation"]),
        .library(name: "EssentialsPublishers", targets: ["EssentialsPublishers"]),
        .library(name: "EssentialsPersistence", targets: ["EssentialsPersistence"]),
        .library(name: "EssentialsSQLite", targets: ["EssentialsSQLite"]),
        .library(name: "EssentialsObservability", targets: ["EssentialsObservability"]),
        .library(name: "EssentialsInspector", targets: ["EssentialsInspector"]),
        .library(name: "EssentialsRedis", targets: ["EssentialsRedis"]),
        .library(name: "EssentialsFoundation", targets: ["EssentialsFoundation"]),
        .library(name: "EssentialsTestKit", targets: ["EssentialsTestKit"]),
        .library(name: "EssentialsResourcesTestKit", targets: ["EssentialsResourcesTestKit"]),
        .library(name: "EssentialsPersistenceTestKit", targets: ["EssentialsPersistenceTestKit"]),
        .library(name: "EssentialsTestTraits", targets: ["EssentialsTestTraits"]),
        .executable(name: "essentials", targets: ["essentials"]),
    ],
    traits: [
        .default(enabledTraits: ["Tool"]),
        .trait(
            name: "Requests",
            description: "All modules. Without a trait, only those that need no other package are built."),
        .trait(name: "Tool", description: "All modules and the command-line tool."),
        .trait(
            name: "OpenCombine",
            description: "All modules, and the publishers of EssentialsPublishers with the package OpenCombine."),
        .trait(
            name: "Persistence",
            description: "All modules, and the persistence service of EssentialsSQLite with the package GRDB.swift."),
        .trait(
            name: "Server",
            description: """
                All modules, and what servers need: metrics, traces, a lifecycle and settings with the packages \
                swift-metrics, swift-distributed-tracing, swift-service-lifecycle and swift-configuration.
                """),
        .trait(
            name: "Inspector",
            description: """
                All that Server has, and a web server for the inspector's page with the package hummingbird.
                """),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        // With the trait JSON it would link all of Foundation. A program that wants more traits names them itself.
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: ["CommandLineArguments"]),
        // With its own traits it would link all of Foundation, and read settings that nothing here uses.
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    ],
    targets: [
        .systemLibrary(name: "CLibcurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        // The library below the HTTP/2 tests' server. It is not looked up, so that only tests need it (libnghttp2-dev).
        .systemLibrary(name: "CNghttp2", path: "Tests/CNghttp2"),
        // What every module may use. It has no product, and nothing in it is public.
        .target(name: "EssentialsTools", swiftSettings: settings),
        .target(name: "EssentialsLocator", dependencies: ["EssentialsTools"], swiftSettings: settings),
        // Files, locks and directories of records. It has no product, and nothing in it is public. It knows no network, so
        // that the modules below it and those of persistence can use it.
        .target(name: "EssentialsStorage", dependencies: ["EssentialsTools"], swiftSettings: settings),
        .target(
            name: "EssentialsTransport", dependencies: ["EssentialsTools", "EssentialsStorage", httpTypes],
            swiftSettings: settings),
        .target(
            name: "EssentialsHTTP", dependencies: ["EssentialsTools", "EssentialsStorage", "EssentialsTransport"],
            swiftSettings: settings),
        .target(name: "CEssentials", dependencies: ["CLibcurl", "COpenSSL"]),
        .target(
            name: "EssentialsCurl",
            dependencies: ["EssentialsTools", "EssentialsStorage", "EssentialsTransport", "CEssentials", logging],
            swiftSettings: settings),
        .target(name: "EssentialsReachability", dependencies: ["EssentialsTools"], swiftSettings: settings),
        .target(
            name: "EssentialsRequests",
            dependencies: [
                "EssentialsTools", "EssentialsStorage", "EssentialsHTTP", "EssentialsReachability", logging,
            ],
            swiftSettings: settings),
        .target(
            name: "EssentialsFetching",
            dependencies: [
                "EssentialsTools", "EssentialsStorage", "EssentialsHTTP", "EssentialsReachability",
                "EssentialsRequests", logging,
            ],
            swiftSettings: settings),
        .target(
            name: "EssentialsResources",
            dependencies: [
                "EssentialsTools", "EssentialsStorage", "EssentialsHTTP", "EssentialsReachability",
                "EssentialsRequests", logging,
            ],
            swiftSettings: settings),
        .target(
            name: "EssentialsObservation", dependencies: ["EssentialsTools", "EssentialsResources"],
            swiftSettings: settings),
        .target(
            name: "EssentialsPublishers",
            dependencies: [
                "EssentialsTools", "EssentialsRequests", "EssentialsFetching", "EssentialsResources", openCombine,
            ],
            swiftSettings: settings),
        // What machines share. No other module uses it.
        .target(
            name: "EssentialsRedis",
            dependencies: [
                "EssentialsTools", "EssentialsStorage", "EssentialsTransport", "EssentialsHTTP", "EssentialsRequests",
            ],
            swiftSettings: settings),
        .target(name: "EssentialsPersistence", dependencies: ["EssentialsTools"], swiftSettings: settings),
        .target(
            name: "EssentialsSQLite",
            dependencies: ["EssentialsTools", "EssentialsStorage", "EssentialsPersistence", grdb],
            swiftSettings: settings),
        .target(
            name: "EssentialsObservability",
            dependencies: [
                "EssentialsTools", "EssentialsTransport", "EssentialsHTTP", "EssentialsRequests",
                "EssentialsPersistence",
                server("CoreMetrics", of: "swift-metrics"), server("Tracing", of: "swift-distributed-tracing"),
            ],
            swiftSettings: settings),
        .target(
            name: "EssentialsInspector",
            dependencies: [
                "EssentialsTools", "EssentialsStorage", "EssentialsLocator", "EssentialsTransport", "EssentialsHTTP",
                "EssentialsRequests",
                "EssentialsFetching", "EssentialsResources", "EssentialsPersistence", "EssentialsObservability",
                httpTypes, logging, lifecycle("ServiceLifecycle"),
            ] + inspectorServer,
            // The page, which is compiled in, so that a program needs no file beside it.
            resources: [
                .embedInCode("Page/page.html"), .embedInCode("Page/page.css"), .embedInCode("Page/page.js"),
            ],
            swiftSettings: settings),
        .target(
            name: "EssentialsFoundation", dependencies: ["EssentialsRequests"], swiftSettings: settings),
        .target(name: "CEssentialsTest", dependencies: ["COpenSSL"]),
        .target(
            name: "EssentialsTestKit",
            dependencies: [
                "EssentialsTools", "EssentialsHTTP", "EssentialsReachability", "EssentialsRequests", "CEssentialsTest",
            ],
            swiftSettings: settings),
        .target(
            name: "EssentialsResourcesTestKit",
            dependencies: ["EssentialsTools", "EssentialsFetching", "EssentialsResources", "EssentialsTestKit"],
            swiftSettings: settings),
        .target(
            name: "EssentialsPersistenceTestKit", dependencies: ["EssentialsTools", "EssentialsPersistence"],
            swiftSettings: settings),
        .target(name: "EssentialsTestTraits", dependencies: ["EssentialsLocator"], swiftSettings: settings),
        .target(
            name: "ServiceEssentials",
            dependencies: [
                "EssentialsTools", "EssentialsLocator", "EssentialsTransport", "EssentialsHTTP", "EssentialsCurl",
                "EssentialsReachability", "EssentialsRequests", "EssentialsFetching", "EssentialsResources",
                "EssentialsPersistence", "EssentialsSQLite", httpTypes, lifecycle("ServiceLifecycle"), configuration,
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "essentials",
            dependencies: [
                "EssentialsTools", "EssentialsStorage", "ServiceEssentials", "EssentialsObservability",
                "EssentialsInspector", "EssentialsRedis", "EssentialsTestKit", logging,
                .product(
                    name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["Tool"])),
            ],
            exclude: ["essentials.1"], swiftSettings: settings),
        // What several test targets use.
        .target(name: "TestTools", dependencies: ["EssentialsTools"], path: "Tests/TestTools", swiftSettings: settings),
        .testTarget(
            name: "EssentialsToolsTests", dependencies: ["EssentialsTools", "TestTools"], swiftSettings: settings),
        .testTarget(
            name: "EssentialsLocatorTests", dependencies: ["EssentialsTools", "TestTools", "EssentialsLocator"],
            swiftSettings: settings),
        .testTarget(
            name: "EssentialsTestTraitsTests", dependencies: ["EssentialsTools", "EssentialsTestTraits"],
            swiftSettings: settings),
        // A program with a directory of records, which tests start and kill.
        .executableTarget(
            name: "RecordProbe", dependencies: ["EssentialsStorage"], path: "Tests/RecordProbe",
            swiftSettings: settings),
        .testTarget(
            name: "EssentialsStorageTests",
            dependencies: ["EssentialsTools", "TestTools", "EssentialsStorage", "RecordProbe"],
            swiftSettings: settings),
        .testTarget(
            name: "EssentialsTransportTests",
            dependencies: ["EssentialsTools", "TestTools", "EssentialsStorage", "EssentialsTransport"],
            swiftSettings: settings),
        .testTarget(
            name: "EssentialsHTTPTests",
            dependencies: ["EssentialsTools", "TestTools", "EssentialsStorage", "EssentialsHTTP"],
            swiftSettings: settings),
        .testTarget(
            name: "EssentialsTestKitTests", dependencies: ["EssentialsTools", "EssentialsTestKit", "CEssentialsTest"],
            swiftSettings: settings),
        .testTarget(
            name: "EssentialsCurlTests",
            dependencies: [
                "EssentialsTools", "TestTools", "EssentialsCurl", "EssentialsHTTP", "EssentialsTestKit",
                "CEssentialsTest",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "EssentialsHTTP2Tests",
            dependencies: [
                "EssentialsTools", "EssentialsCurl", "EssentialsHTTP", "EssentialsTestKit", "CEssentialsTest",
                "COpenSSL", "CNghttp2",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "EssentialsReachabilityTests",
            dependencies: ["EssentialsTools", "TestTools", "EssentialsReachability"],
            swiftSettings: settings),
        .testTarget(
            name: "EssentialsRequestsTests",
            dependencies: [
                "EssentialsTools", "TestTools", "EssentialsStorage", "ServiceEssentials", "EssentialsTestKit",
                "EssentialsResourcesTestKit", "ResourceProbe", "CacheProbe",
            ],
            swiftSettings: settings),
        // A client with a response cache, which a suite of tests for HTTP caches drives.
        .executableTarget(
            name: "CacheProbe",
            dependencies: [
                "EssentialsTools", "EssentialsCurl", "EssentialsHTTP", "EssentialsRequests", "EssentialsRedis",
            ],
            path: "Tests/CacheProbe", swiftSettings: settings),
        // A program with an outbox or an entity cache, which tests start and kill.
        .executableTarget(
            name: "ResourceProbe", dependencies: ["ServiceEssentials"], path: "Tests/ResourceProbe",
            swiftSettings: settings),
        .testTarget(
            name: "EssentialsFetchingTests",
            dependencies: [
                "EssentialsTools", "TestTools", "EssentialsStorage", "ServiceEssentials", "EssentialsTestKit",
                "EssentialsResourcesTestKit", "ResourceProbe",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "EssentialsResourcesTests",
            dependencies: [
                "EssentialsTools", "TestTools", "EssentialsStorage", "ServiceEssentials", "EssentialsTestKit",
                "EssentialsResourcesTestKit", "ResourceProbe",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "EssentialsObservationTests",
            dependencies: ["EssentialsTools", "EssentialsObservation", "EssentialsResources", "EssentialsTestKit"],
            swiftSettings: settings),
        .testTarget(
            name: "EssentialsPublishersTests",
            dependencies: [
                "EssentialsTools", "EssentialsPublishers", "EssentialsFetching", "EssentialsResources",
                "EssentialsTestKit",
                openCombine,
            ],
            swiftSettings: settings),
        .testTarget(
            name: "EssentialsRedisTests",
            dependencies: [
                "EssentialsRedis", "EssentialsCurl", "EssentialsLocator", "EssentialsTestKit", "EssentialsRequests",
                "EssentialsHTTP",
                "EssentialsTransport", "EssentialsTools", "TestTools", "CacheProbe",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "EssentialsPersistenceTests",
            dependencies: ["EssentialsTools", "TestTools", "EssentialsPersistence"],
            swiftSettings: settings),
        .testTarget(
            name: "EssentialsPersistenceTestKitTests",
            dependencies: ["EssentialsTools", "EssentialsPersistenceTestKit"],
            swiftSettings: settings),
        // A program with a store, which its tests start and kill.
        .executableTarget(
            name: "StoreProbe", dependencies: ["EssentialsTools", "EssentialsSQLite", "EssentialsPersistence", grdb],
            path: "Tests/StoreProbe", swiftSettings: settings),
        .testTarget(
            name: "EssentialsSQLiteTests",
            dependencies: [
                "EssentialsTools", "TestTools", "EssentialsStorage", "EssentialsSQLite", "EssentialsPersistence",
                "EssentialsPersistenceTestKit", "StoreProbe", grdb,
            ],
            swiftSettings: settings),
        // A program with a group of services, which tests end with signals.
        .executableTarget(
            name: "LifecycleProbe",
            dependencies: [
                "EssentialsTools", "ServiceEssentials", logging, lifecycle("ServiceLifecycle"),
                lifecycle("UnixSignals"),
            ],
            path: "Tests/LifecycleProbe", swiftSettings: settings),
        .testTarget(
            name: "ServiceEssentialsTests",
            dependencies: [
                "EssentialsTools", "TestTools", "ServiceEssentials", "EssentialsResourcesTestKit", "EssentialsTestKit",
                "LifecycleProbe", lifecycle("ServiceLifecycle"), lifecycle("ServiceLifecycleTestKit"), configuration,
            ],
            swiftSettings: settings),
        .testTarget(
            name: "EssentialsObservabilityTests",
            dependencies: [
                "EssentialsTools", "TestTools", "EssentialsObservability", "EssentialsHTTP", "EssentialsRequests",
                "EssentialsCurl",
                "EssentialsPersistence", "EssentialsTestKit", "ServiceEssentials",
                server("CoreMetrics", of: "swift-metrics"),
                server("MetricsTestKit", of: "swift-metrics"), server("Tracing", of: "swift-distributed-tracing"),
                server("InMemoryTracing", of: "swift-distributed-tracing"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "EssentialsInspectorTests",
            dependencies: [
                "EssentialsTools", "TestTools", "EssentialsInspector", "EssentialsLocator", "EssentialsHTTP",
                "EssentialsRequests", "EssentialsResources", "EssentialsPersistence", "EssentialsObservability",
                "EssentialsCurl", "EssentialsTestKit", "ServiceEssentials", httpTypes, logging,
                server("InMemoryTracing", of: "swift-distributed-tracing"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "EssentialsResourcesTestKitTests", dependencies: ["EssentialsResourcesTestKit"],
            swiftSettings: settings),
        .testTarget(
            name: "EssentialsFoundationTests",
            dependencies: ["EssentialsFoundation", "EssentialsCurl", "ServiceEssentials", "EssentialsTestKit"],
            swiftSettings: settings),
        .testTarget(
            name: "ToolTests", dependencies: ["EssentialsTools", "essentials", "EssentialsTestKit"],
            swiftSettings: settings),
        // The programs of the README and of the tutorials, compiled with a reader's settings.
        .executableTarget(
            name: "FirstProgram", dependencies: ["ServiceEssentials"], path: "Tests/Tutorials/FirstProgram"),
        .executableTarget(
            name: "CachingProgram", dependencies: ["ServiceEssentials"], path: "Tests/Tutorials/CachingProgram"),
        .executableTarget(name: "Roster", dependencies: ["ServiceEssentials"], path: "Tests/Tutorials/Roster"),
        // The examples of documentation comments, which are compiled and not run.
        .testTarget(
            name: "DocExamples",
            dependencies: [
                "EssentialsFoundation", "EssentialsObservation", "EssentialsPersistenceTestKit", "EssentialsPublishers",
                "EssentialsObservability", "EssentialsInspector", lifecycle("ServiceLifecycle"),
                lifecycle("UnixSignals"), configuration,
                "EssentialsResourcesTestKit", "EssentialsTestKit", "ServiceEssentials", logging, openCombine,
            ],
            swiftSettings: settings),
        .testTarget(
            name: "TutorialTests",
            dependencies: [
                "FirstProgram", "CachingProgram", "Roster", "ServiceEssentials", "essentials", "EssentialsTestKit",
            ],
            path: "Tests/Tutorials/Tests"),
    ],
    swiftLanguageModes: [.v6],
    cLanguageStandard: .gnu11
)

// Builds for a sanitizer instrument this package alone: what it depends on is built once, for all kinds of builds.
// Tests/Sanitizers.txt says what they leave out.
if let sanitizer = Context.environment["ESSENTIALS_SANITIZER"] {
    let list = try String(contentsOfFile: "\(Context.packageDirectory)/Tests/Sanitizers.txt", encoding: .utf8)
    // On a busy machine, the thread sanitizer too judges only the modules that call C.
    let isReduced = Context.environment["ESSENTIALS_SANITIZED"] == "core"
    let omitted = list.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        .filter {
            $0.count == 3
                && ($0[0] == sanitizer || $0[0] == "both" || isReduced && $0[0] == "address" && $0[1] == "target")
        }
    package.products = []
    package.targets.removeAll { target in omitted.contains { $0[1] == "target" && $0[2] == target.name } }
    for target in package.targets where target.type != .system {
        target.exclude += omitted.filter { $0[1] == "path" && $0[2].hasPrefix("\(target.name)/") }
            .map { String($0[2].dropFirst(target.name.count + 1)) }
        guard !target.name.hasPrefix("C") else {
            target.cSettings = (target.cSettings ?? []) + [.unsafeFlags(["-fsanitize=\(sanitizer)"])]
            continue
        }
        // Reports need lines, and nothing else of the debug information. A module is not compiled in parts, each of which
        // would read all of its files.
        let flags = ["-sanitize=\(sanitizer)", "-gline-tables-only", "-whole-module-optimization", "-num-threads", "2"]
        target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(flags)]
        target.linkerSettings = (target.linkerSettings ?? []) + [.unsafeFlags(["-sanitize=\(sanitizer)"])]
    }
}
