import FoundationEssentials
import Testing

@Suite("Articles")
struct ArticleTests {
    /// Swift code in articles that is not compiled here, by its first line, with the reason.
    private static let exceptions = [
        "// swift-tools-version: 6.2": "a manifest is compiled by the package manager alone",
        "// a dependency of the package": "these are lines of a manifest",
        ".testTarget(": "this is a part of a manifest",
        "upload.body = .stream(buffers.map(\\.readableBytesView), length: nil)": "this package has no ByteBuffer",
    ]

    /// The modules of articles that are not in the catalog of EssentialsRequests.
    private static let modules = [
        "ComingFrom": "ServiceEssentials", "MovingFromRelax": "ServiceEssentials", "TestingTLS": "EssentialsTestKit",
        "ScriptedTransport": "EssentialsTestKit",
        "MovingFromOtherClients": "ServiceEssentials", "FirstResource": "EssentialsResources",
        "PathsAndIdentity": "EssentialsResources", "FreshContent": "EssentialsResources",
        "ObservingResources": "EssentialsResources", "ConfiguringResources": "EssentialsResources",
        "RequestsOfResources": "EssentialsResources", "WritingOptimistically": "EssentialsResources",
        "EntityCaches": "EssentialsResources", "AccountsAndEnvironments": "EssentialsResources",
        "KeepingResourcesFresh": "EssentialsResources", "Pages": "EssentialsResources",
        "CachingModels": "EssentialsFetching",
        "Blobs": "EssentialsFetching",
        "OutboxPromises": "EssentialsFetching",
        "FetchingModels": "EssentialsFetching", "RetryingFetches": "EssentialsFetching",
        "TestingResources": "EssentialsResourcesTestKit", "MovingFromSiesta": "ServiceEssentials",
        "MovingFromCachingService": "ServiceEssentials",
        "ChoosingPins": "EssentialsCurl", "PrivateAuthorities": "EssentialsCurl", "Scopes": "EssentialsLocator",
        "FirstStore": "EssentialsSQLite", "Conflicts": "EssentialsPersistence",
        "MigrationsAndBackups": "EssentialsSQLite", "Durability": "EssentialsSQLite",
        "MovingFromPersistenceService": "ServiceEssentials", "WhichPart": "ServiceEssentials",
        "MetricsAndTraces": "EssentialsObservability", "RecordingRequests": "EssentialsObservability",
        "WhenOneMachineIsNotEnough": "EssentialsRedis",
        "ConfigurationKeys": "ServiceEssentials",
    ]

    /// The folders of tests of articles that are not tested in the folder of this file.
    private static let folders = [
        "FirstStore": ["EssentialsSQLiteTests/Articles", "ServiceEssentialsTests/Persistence"],
        "Conflicts": ["EssentialsSQLiteTests/Articles"],
        "MigrationsAndBackups": ["EssentialsSQLiteTests/Articles"],
        "Durability": ["EssentialsSQLiteTests/Articles"],
        "MetricsAndTraces": ["EssentialsObservabilityTests/Articles"],
        "RecordingRequests": ["EssentialsObservabilityTests/Articles"],
        "WhenOneMachineIsNotEnough": ["EssentialsRedisTests/Articles"],
        "ConfigurationKeys": ["ServiceEssentialsTests/Configuration"],
        "MovingFromPersistenceService": ["EssentialsSQLiteTests/Articles"],
        "WhichPart": ["EssentialsRequestsTests/Articles", "EssentialsSQLiteTests/Articles"],
    ]

    /// The languages of other code blocks.
    private static let otherLanguages: Set<Substring> = ["sh", "json", "objc", "text"]

    @Test(
        "An article contains exactly the tested code and has a limited length",
        arguments: [
            "FirstRequest", "HandlingFailures", "Environments", "BuildingRequests", "Authenticating",
            "DownloadsAndUploads", "ListsInPages", "TestDoubles", "MovingFromServiceEssentials", "ComingFrom",
            "InterceptingRequests", "LoggingRequests", "ObservingRequests", "ServerSentEvents", "TestingTLS",
            "ScriptedTransport",
            "DefiningAPIs", "SendingDefinitions", "MovingFromRelax", "LimitingRequests", "RefreshingTokens",
            "WhenRequestsFail", "KeepingCookies", "WhatHappensToARequest", "LimitsOfStages", "MovingFromOtherClients",
            "FirstResource", "PathsAndIdentity", "FreshContent", "ObservingResources",
            "ConfiguringResources", "RequestsOfResources", "WritingOptimistically", "EntityCaches",
            "AccountsAndEnvironments", "TestingResources", "MovingFromSiesta", "KeepingResourcesFresh", "Pages",
            "CachingModels",
            "Blobs",
            "OutboxPromises",
            "FetchingModels", "RetryingFetches", "MovingFromCachingService",
            "FirstStore", "Conflicts", "MigrationsAndBackups", "Durability", "MovingFromPersistenceService",
            "WhichPart", "MetricsAndTraces", "RecordingRequests", "ConfigurationKeys",
            "WhenOneMachineIsNotEnough",
        ])
    func sameText(name: String) throws {
        let article = try Self.article(name)
        let shown = article.blocks("swift").filter { block in
            Self.exceptions[String(block.first ?? "")] == nil
        }
        var tested = try Self.tested(name)
        // The order may differ: in an article a block stands where it is explained, in a file where it compiles.
        for block in shown {
            let place = tested.firstIndex(of: block)
            #expect(place != nil, "No test holds: \(block.joined(separator: "\n"))")
            if let place { tested.remove(at: place) }
        }
        #expect(tested == [], "The article lacks what is tested.")
        #expect(Set(article.languages).subtracting(["swift"]).isSubset(of: Self.otherLanguages))
        #expect(article.lines.count <= 182)
    }

    @Test(
        "An article contains the tested code, beside other code",
        arguments: ["ChoosingPins", "PrivateAuthorities", "Scopes"])
    func containedText(name: String) throws {
        let shown = try Self.article(name).blocks("swift")
        let tested = try Self.tested(name)
        #expect(!tested.isEmpty)
        for block in tested { #expect(shown.contains(block), "Not shown: \(block.joined(separator: "\n"))") }
    }

    private static func article(_ name: String) throws -> ArticleText {
        try ArticleText(name, of: modules[name] ?? "EssentialsRequests")
    }

    private static func tested(_ name: String) throws -> [[Substring]] {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try (folders[name] ?? ["EssentialsRequestsTests/Articles"]).flatMap { folder in
            try ArticleText.tested(in: tests.appending(path: "\(folder)/\(name)Tests.swift").path)
        }
    }

    @Test("The list of exceptions names each once, with its reason")
    func exceptions() throws {
        let names = ["FirstRequest", "Environments", "DownloadsAndUploads", "LoggingRequests", "TestingTLS"]
        let articles = try names.map(Self.article)
        let blocks = articles.flatMap { $0.blocks("swift") }
        for (line, reason) in Self.exceptions {
            #expect(blocks.filter { $0.first == Substring(line) }.count == 1, "\(line): \(reason)")
        }
    }
}
