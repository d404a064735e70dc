import EssentialsFetching
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import ServiceEssentials

/// The steps of `essentials demo --policies`: a coin list with a cache, pictures on the disk, and requests that wait until
/// the server accepts them.
struct PoliciesDemo: Demonstration {
    let api: PoliciesDemoAPI
    let locator: ServiceLocator
    private let directory: DemoDirectory
    private let coins: CoinService
    private let blobs: BlobService
    private let outbox: Outbox

    init(api: PoliciesDemoAPI) throws {
        self.api = api
        directory = try DemoDirectory()
        locator = try bootstrapPolicies(
            baseURL: api.server.url + "/v1/", pins: api.pins, anchors: api.anchors, directory: directory.path)
        coins = try locator.resolve(CoinService.self)
        blobs = try locator.resolve(BlobService.self)
        outbox = try locator.resolve(Outbox.self)
    }

    var steps: [DemoStep] {
        [
            DemoStep(name: "first use", run: fetchesTheList), DemoStep(name: "offline", run: showsTheCachedList),
            DemoStep(name: "kept", run: keepsRequests), DemoStep(name: "online", run: showsBothLists),
            DemoStep(name: "filter", run: filtersTheList), DemoStep(name: "blob", run: readsAPictureTwice),
            DemoStep(name: "outbox", run: drainsTheOutbox),
        ]
    }

    func close() async {
        await outbox.close()
        await blobs.close()
        await locator.close()
    }

    /// Nothing is cached yet, so the only list is that of the server.
    private func fetchesTheList() async throws -> String {
        var shown: [String] = []
        for try await list in coins.coins() { shown.append(describe(list)) }
        try promise(shown == ["“btc eth” from the backend"], "the list is that of the server")
        return "the list is \(shown[0]), and is cached"
    }

    /// The server is down. The cached list covers the failure.
    private func showsTheCachedList() async throws -> String {
        api.goDown()
        var failure: RequestFailure?
        var shown: [String] = []
        for try await list in coins.coins(from: .backendElseCache) {
            shown.append(describe(list))
            failure = list.failure
        }
        try promise(shown == ["“btc eth” from the cache"] && failure != nil, "the cached list covers the failure")
        return "the server is down (\(failure?.reason.name ?? "")), and the list is \(shown[0])"
    }

    /// Requests that nobody waits for are kept on the disk.
    private func keepsRequests() async throws -> String {
        for symbol in ["btc", "eth"] {
            let view = DataRequest(.post, "views", body: .model(CoinView(symbol: symbol)))
            try await coins.fireAndForget(view, through: outbox)
        }
        try await outbox.drain()
        let kept = try await Outbox.entries(in: directory.path + "/outbox").count
        try promise(kept == 2 && api.views.isEmpty, "the requests are on the disk")
        return "\(kept) requests are on the disk, and the server has accepted \(api.views.count)"
    }

    /// The cached list comes first, and then that of the server.
    private func showsBothLists() async throws -> String {
        api.comeUp()
        var shown: [String] = []
        for try await list in coins.coins() { shown.append(describe(list)) }
        try promise(
            shown == ["“btc eth” from the cache", "“btc eth orb” from the backend"], "both lists are shown in order")
        return "the server is up, and the list is first \(shown[0]) and then \(shown[1])"
    }

    /// The cached list is searched, and nothing is sent.
    private func filtersTheList() async throws -> String {
        let before = api.count(of: "/v1/coins")
        let found = try await coins.coins(containing: "BIT")
        let sent = api.count(of: "/v1/coins") - before
        try promise(found.map(\.symbol) == ["btc", "orb"] && sent == 0, "the cached list is searched")
        return "“BIT” is found in \(found.map(\.name).joined(separator: " and ")), with \(sent) requests"
    }

    /// The second use reads the file of the first one.
    private func readsAPictureTwice() async throws -> String {
        let picture = try await blobs.bytes(at: "pictures/btc")
        let again = try await blobs.bytes(at: "pictures/btc")
        let transfers = api.count(of: "/v1/pictures/btc")
        try promise(picture == again && picture.count == 7 && transfers == 1, "one transfer is enough for two uses")
        return "\(picture.count) bytes were used twice, after \(transfers) transfer"
    }

    /// The requests are sent in their order, once.
    private func drainsTheOutbox() async throws -> String {
        try await outbox.drain()
        let left = try await outbox.entries.count
        let accepted = api.views
        try promise(
            left == 0 && accepted == [#"{"symbol":"btc"}"#, #"{"symbol":"eth"}"#], "the requests are sent in order")
        return "the server has accepted \(accepted.joined(separator: " and ")), and \(left) requests are left"
    }

    private func describe(_ list: Emission<[Coin]>) -> String {
        "“\(list.value.map(\.symbol).joined(separator: " "))” from the \(list.source)"
    }
}

/// Fetches coins, and keeps the list for times without a network.
struct CoinService: FetchingService, ModelCaching {
    let requests: any DataRequestService
    let cache: any AsyncCache

    /// The list of coins.
    func coins(from source: FetchSource = .cacheThenBackend) -> Emissions<[Coin]> { get("coins", from: source) }

    /// The coins of the cached list whose name or symbol contains a text.
    func coins(containing text: String) async throws -> [Coin] {
        guard let key = modelKey(for: DataRequest(.get, "coins"), as: [Coin].self) else { return [] }
        return try await models(matching: ModelFilter(text, in: \.name, \.symbol), key: key)
    }
}

/// Registers the services of the application. Each of the three stores has a directory of its own.
///
/// - Parameters:
///   - baseURL: The base URL of the API.
///   - pins: The public key of the API's server and a backup.
///   - anchors: The trusted authorities; `.system` for a server on the Internet.
///   - directory: Where the directories are made.
func bootstrapPolicies(
    baseURL: String, pins: [Pin], anchors: TrustAnchors, directory: String
) throws -> ServiceLocator {
    let locator = try bootstrap(baseURL: baseURL, pins: pins, anchors: anchors)
    try locator.registerLazy(CoinService.self) { locator in
        try CoinService(
            requests: locator.resolve((any DataRequestService).self),
            cache: ModelCache(directory: directory + "/models"))
    }
    try locator.registerLazy(BlobService.self) { locator in
        try BlobService(
            requests: locator.resolve((any DataRequestService).self),
            environment: locator.resolve((any EnvironmentService).self), directory: directory + "/blobs")
    }
    try locator.registerLazy(Outbox.self) { locator in
        try Outbox(
            directory: directory + "/outbox", requests: locator.resolve((any DataRequestService).self),
            environment: locator.resolve((any EnvironmentService).self))
    }
    return locator
}

/// A directory of the demonstration, which is removed with this object.
final class DemoDirectory: Sendable {
    let path: String

    init() throws(RequestFailure) {
        var template = Array("/tmp/essentials-demo-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw RequestFailure.file("A temporary directory could not be made") }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
