// swift-format-ignore-file
// The code stands as in the documentation comments.

import Dispatch
import EssentialsTestKit
import FoundationEssentials
import Logging
import ServiceEssentials

@testable import EssentialsFetching

private typealias Item = ShopModels.Item
private typealias Cart = ShopModels.Cart
private typealias User = ShopModels.User
private typealias Film = ShopModels.Film
private typealias Order = ShopModels.Order
private typealias Price = ShopModels.Price
private typealias File = ShopModels.File
private typealias Picture = ShopModels.Picture
private typealias Shop = ShopModels.Shop
private struct NewUser: Codable, Sendable { var name = "" }
private struct Contact: Codable, Sendable, Identifiable {
    var id = 1
    var name = ""
}
private struct Draft: Codable, Sendable { var text = "" }
private struct NewCoin: Codable, Sendable { var name = "" }
private struct Coin: Codable, Sendable, Identifiable, Equatable {
    static let bitcoin = Coin()
    var id = 1
    var name = ""
    var symbol = ""
    var pictureURL = ""
}

private enum Users: APIService {
    static func get(id: Int) -> APIRequest<User> { request(.get, "users/\(id)") }
    static let getAll: APIRequest<[User]> = request(.get, "users")
    static func create(_ user: NewUser) -> APIRequest<User> { request(.post, "users") { RequestContent { user } } }
    static func rename(id: Int, to name: String) -> APIRequest<User> { request(.patch, "users/\(id)") }
    static func delete(id: Int) -> APIRequest<Void> { request(.delete, "users/\(id)") }
    static func picture(id: Int) -> APIRequest<Data> { request(.get, "users/\(id).png") }
}
private enum Films: APIService {
    static let catalogue: APIRequest<[Film]> = request(.get, "films")
    static func stream(id: Int) -> APIRequest<Data> { request(.get, "films/\(id).mp4") }
}
private enum Coins: APIService {
    static let getAll: APIRequest<[Coin]> = request(.get, "coins")
    static let top: APIRequest<[Coin]> = request(.get, "coins/top")
    static func get(id: Int) -> APIRequest<Coin> { request(.get, "coins/\(id)") }
}
private protocol CoinFetching { func coins() -> Emissions<[Coin]> }
private struct CoinService: FetchingService, ModelCaching {
    let requests: any DataRequestService
    let cache: any AsyncCache
    var problems: CacheProblemLog { given() }
    func coins(from source: FetchSource? = nil) -> Emissions<[Coin]> { get("coins", from: source) }
}
private struct Settings {
    var language: String { get async { "" } }
    var favourites: [Int] = []
}
private struct Account { var id = "" }
private final class Database: Sendable { func delete<Value>(_ key: ModelKey<Value>) async throws {} }
private struct Display {
    func show(_ value: Any) {}
    func show<Value: Sendable>(_ value: Value) async {}
}

private let app = Application()
private let (show, showHint) = (app, app)
private let offline = RequestFailure?.none
private let (player, indicator) = (app, app)
private let (id, name, text, token, path) = ("7", "", "", "", "")
private let (item, account, settings) = (Item(), Account(), Settings())
private let (logger, clock, bytes, database) = (Logger(label: "app"), RequestClock.system, Data(), Database())
private var films: PagedResource<[Film], Film> { given() }
private var request: ResourceRequest<Cart> { given() }
private var list: Display { given() }
private var total: Display { given() }
private var shop: Shop { given() }
private var service: CoinService { given() }
private var requests: HTTPDataRequestService { given() }
private var environment: ConstantEnvironment { given() }
private var transport: CurlTransport { given() }
private var cart: Resource<Cart> { given() }
private var user: Resource<User> { given() }
private var users: Resource<[User]> { given() }
private var film: Film { Film() }
private var files: Resource<[File]> { given() }
private var orders: Resource<[Order]> { given() }
private var prices: Resource<[Price]> { given() }
private let (page, coin, coins, counter, activity) = (1, Coin(), [Coin()], ActivityCounter(), ActivityCounter())
private var cache: ModelCache { given() }
private var blobs: BlobService { given() }
private var outbox: Outbox { given() }
private func DatabaseCache() -> any AsyncCache { given() }

// Activity/ActivityCounter.swift
private func activityCounterExample() async throws {
    let activity = ActivityCounter()
    let requests = activity.counting(HTTPDataRequestService(environment: environment, transport: transport))
    // Give `requests` to all services that send requests. Then:
    for await count in activity.counts { indicator.isShown = count > 0 }
    use(requests)
}

// Activity/ActivityCounter.swift
private func activityCounterExample2() async throws {
    let activity = counter.begin()
    defer { activity.end() }
    await Task.yield()
}

// Activity/ActivityCounter.swift
private func activityCounterExample3() async throws {
    for await count in activity.counts { show(count) }
}

// Models/AsyncCache.swift
private func asyncCacheExample() async throws {
    actor DictionaryCache: AsyncCache {
        private var models: [AnyHashable: any Sendable] = [:]

        func save<Value>(_ model: CachedModel<Value>, for key: ModelKey<Value>) { models[key] = model }
        func load<Value>(_ key: ModelKey<Value>) -> CachedModel<Value>? { models[key] as? CachedModel<Value> }
        func contains<Value>(_ key: ModelKey<Value>) -> Bool { models[key] != nil }
        func delete<Value>(_ key: ModelKey<Value>) { models[key] = nil }
        func deleteAll() { models = [:] }
    }
    use(DictionaryCache())
}

// Blobs/BlobFile.swift
private func blobFileExample() async throws {
    let file = try await blobs.file(at: film.url)
    withExtendedLifetime(file) { player.open(path: file.path) }
}

// Blobs/BlobService+Definitions.swift
private func blobServiceDefinitionsExample() async throws {
    let picture = try await blobs.value(of: Users.picture(id: 7)) { try Picture(decoding: $0) }
    let catalogue = try await blobs.value(of: Films.catalogue)                       // the definition's type
    let film = try await blobs.file(of: Films.stream(id: 7))
    use(picture, catalogue, film)
}

// Blobs/BlobService.swift
private func blobServiceExample() async throws {
    let blobs = try BlobService(requests: requests, environment: environment, directory: "/var/cache/shop/blobs")
    let picture = try await blobs.value(at: coin.pictureURL) { try Picture(decoding: $0) }
    let film = try await blobs.file(at: "films/7.mp4")
    use(picture, film)
}

// Blobs/BlobService.swift
private func blobServiceExample2() async throws {
    requests.setAuthorization(try .bearer(token))
    blobs.enter(EntityPartition(account.id))
}

// Models/CacheProblemLog.swift
private func cacheProblemLogExample() async throws {
    struct CoinService: FetchingService, ModelCaching {
        let requests: any DataRequestService
        let cache: any AsyncCache
        let problems = CacheProblemLog(logger: Logger(label: "coins"))

        var fetchDefaults: FetchDefaults { FetchDefaults(cacheProblems: problems) }
    }
    if service.problems.current.count > 0 { showHint() }
}

// Models/CachedModel.swift
private func cachedModelExample() async throws {
    try await cache.save(CachedModel(coins, date: clock.date), for: ModelKey("coins"))
}

// Models/CachedValue.swift
private func cachedValueExample() async throws {
    let draft = CachedValue(ModelKey<Draft>("draft", partition: "account-7"), in: cache)
    try await draft.update { $0 = Draft(text: ($0?.text ?? "") + "!") }
    let text = try await draft.load()?.text
    use(text)
}

// Fetch/Emission.swift
private func emissionExample() async throws {
    for try await coins in service.coins() {
        show(coins.value, isOutdated: coins.source == .cache, age: coins.age)
        if let failure = coins.failure { showHint(failure.message) }
    }
}

// Fetch/Emissions+Callbacks.swift
private func emissionsCallbacksExample() async throws {
    let token = service.coins().start(completionQueue: .main) { coins in
        list.show(coins.value)
    } completion: { result in
        if case .failure(let failure) = result { list.show(failure.message) }
    }
    token.cancel()
}

// Fetch/Emissions.swift
private func emissionsExample() async throws {
    for try await coins in service.get("coins", as: [Coin].self) {
        show(coins.value, from: coins.source, age: coins.age)
    }
    let newest = try await service.coins(from: .backend).last()?.value
    use(newest)
}

// Fetch/FetchDefaults.swift
private func fetchDefaultsExample() async throws {
    struct CoinService: FetchingService, ModelCaching {
        let requests: any DataRequestService
        let cache: any AsyncCache
        let fetchDefaults = FetchDefaults(source: .cacheElseBackend(maximumAge: .seconds(60)), retry: .standard)
    }
}

// Fetch/FetchOptions.swift
private func fetchOptionsExample() async throws {
    let coins = service.get("coins", options: FetchOptions(emitsFailure: false), as: [Coin].self)
    use(coins)
}

// Fetch/FetchSource.swift
private func fetchSourceExample() async throws {
    let coins = service.get("coins", from: .cacheThenBackend, as: [Coin].self)
    let prices = service.get("prices", from: .cacheElseBackend(maximumAge: .seconds(60)), as: [Price].self)
    use(coins, prices)
}

// Fetch/FetchingService+Fetching.swift
private func fetchingServiceFetchingExample() async throws {
    for try await coins in service.get("coins", from: .backendElseCache, as: [Coin].self) { show(coins.value) }
}

// Fetch/FetchingService+Fetching.swift
private func fetchingServiceFetchingExample2() async throws {
    let user = service.fetch(Users.get(id: 7), from: .cacheThenBackend)          // Emissions<User>
    use(user)
}

// Fetch/FetchingService+Fetching.swift
private func fetchingServiceFetchingExample3() async throws {
    let coins = service.get(
        "coins", parameters: ["page": page], key: service.modelKey(named: "first page"), as: [Coin].self)
    use(coins)
}

// Fetch/FetchingService+Fetching.swift
private func fetchingServiceFetchingExample4() async throws {
    let key = service.modelKey(for: Users.get(id: 7))                                 // ModelKey<User>?
    use(key)
}

// Fetch/FetchingService+Writing.swift
private func fetchingServiceWritingExample() async throws {
    let coin: Coin = try await service.post("coins", body: NewCoin(name: "Ada"), outdating: [.get("coins", as: [Coin].self)])
    try await service.delete("coins/7", outdating: [.get("coins/7", as: Coin.self), .get("coins", as: [Coin].self)])
    use(coin)
}

// Fetch/FetchingService+Writing.swift
private func fetchingServiceWritingExample2() async throws {
    let user = try await service.send(Users.rename(id: 7, to: "Ada"), outdating: [.request(Users.get(id: 7))])
    use(user)
}

// Fetch/FetchingService+Writing.swift
private func fetchingServiceWritingExample3() async throws {
    try await service.fireAndForget(.post("views", body: ["id": 7]))
}

// Fetch/FetchingService+Writing.swift
private func fetchingServiceWritingExample4() async throws {
    try await service.send(Users.delete(id: 7), outdating: [.request(Users.get(id: 7)), .request(Users.getAll)])
}

// Fetch/FetchingService.swift
private func fetchingServiceExample() async throws {
    struct CoinService: FetchingService, ModelCaching {
        let requests: any DataRequestService
        let cache: any AsyncCache

        func coins() -> Emissions<[Coin]> { get("coins", from: .cacheThenBackend) }
        func coin(_ id: Int) -> Emissions<Coin> { fetch(Coins.get(id: id), retry: .attempts(5).whenReachable) }
        func rename(_ id: Int, to name: String) async throws(RequestFailure) -> Coin {
            try await patch("coins/\(id)", body: ["name": name], outdating: [.get("coins", as: [Coin].self)])
        }
    }
}

// Search/FilteredModels.swift
private func filteredModelsExample() async throws {
    for await coins in cache.liveModels(matching: ModelFilter("bit", in: \Coin.name), key: ModelKey("coins")) {
        show(coins)
    }
}

// Search/FilteredModels.swift
private func filteredModelsExample2() async throws {
    let matching = try await service.models(matching: ModelFilter("bit", in: \Coin.name, \Coin.symbol), at: "coins")
    use(matching)
}

// Search/FilteredModels.swift
private func filteredModelsExample3() async throws {
    let matching = try await service.models(matching: ModelFilter("bit", in: \Coin.name), of: Coins.getAll)
    use(matching)
}

// Search/FilteredModels.swift
private func filteredModelsExample4() async throws {
    for await coins in service.liveModels(matching: ModelFilter(text, in: \Coin.name), at: "coins") { show(coins) }
}

// Search/FilteredModels.swift
private func filteredModelsExample5() async throws {
    let key = service.modelKey(named: "favourites", as: [Coin].self)
    _ = try await service.get("coins", parameters: ["favourite": true], key: key).last()
    let matching = try await service.models(matching: ModelFilter("bit", in: \Coin.name), key: key)
    use(matching)
}

// Search/FilteredModels.swift
private func filteredModelsExample6() async throws {
    let matching = try await service.models(matching: ModelFilter("bit", in: \.name), of: Coins.getAll)
    use(matching)
}

// Fetch/FixedEmissions.swift
private func fixedEmissionsExample() async throws {
    struct FakeCoins: CoinFetching {
        func coins() -> Emissions<[Coin]> { Emissions([Emission([.bitcoin], from: .cache)], failure: offline) }
    }
}

// Models/ModelCache.swift
private func modelCacheExample() async throws {
    let files = try FileEntityCache(directory: "/var/cache/shop")
    let service = CoinService(requests: requests, cache: ModelCache(over: files))
    use(service)
}

// Models/ModelCacheChanges.swift
private func modelChangesExample() async throws {
    let changes = ModelCacheChanges()
    changes.changed(ModelKey<[Coin]>("coins"))
}

// Search/ModelFilter.swift
private func modelFilterExample() async throws {
    let search = ModelFilter("bit", in: \Coin.name, \Coin.symbol)
    let favourites = ModelFilter<Coin>(ids: settings.favourites)
    let matching = try await service.models(matching: search && !favourites, at: "coins")
    use(matching)
}

// Models/ModelKey.swift
private func modelKeyExample() async throws {
    let key = ModelKey<[Coin]>("coins")
    let mine = ModelKey<[Coin]>("coins", partition: "account-7", schema: 2)
    use(key, mine)
}

// Models/ObservableCache.swift
private struct ObservableCacheExample {
    nonisolated let changes = ModelCacheChanges()

    func delete<Value>(_ key: ModelKey<Value>) async throws {
        try await database.delete(key)
        changes.changed(key)
    }
}

// Models/ObservableCache.swift
private func observableCacheExample2() async throws {
    let service = CoinService(requests: requests, cache: ObservedCache(DatabaseCache()))
    use(service)
}

// Outbox/FetchingService+Outbox.swift
private func fetchingServiceOutboxExample() async throws {
    try await service.fireAndForget(DataRequest(.post, "views", parameters: ["id": 7]), through: outbox)
}

// Outbox/FetchingService+Outbox.swift
private func fetchingServiceOutboxExample2() async throws {
    let user = try await service.send(Users.create(NewUser(name: "Ada")), through: outbox)
    use(user)
}

// Outbox/OrderingKey.swift
private func orderingKeyExample() async throws {
    try await outbox.add(.post("carts/\(id)/items", body: item), in: "carts/\(id)")
}

// Outbox/Outbox+Sending.swift
private func outboxSendingExample() async throws {
    let user = try await outbox.send(Users.create(NewUser(name: "Ada")))            // User
    use(user)
}

// Outbox/Outbox.swift
private func outboxExample() async throws {
    let outbox = try Outbox(directory: "/var/lib/shop/outbox", requests: requests, environment: environment)
    try await service.fireAndForget(DataRequest(.post, "views", parameters: ["id": 7]), through: outbox)
    for entry in try await outbox.entries { print(entry.id, entry.path, entry.state) }
}

// Outbox/Outbox.swift
private func outboxExample2() async throws {
    await outbox.leave()
    requests.setAuthorization(try .bearer(token))
    await outbox.enter(EntityPartition(account.id))
}

// Outbox/OutboxEntry.swift
private func outboxEntryExample() async throws {
    for entry in try await outbox.entries {
        if case .failed(let failure) = entry.state { print(entry.id, entry.path, failure.message) }
    }
}

// Outbox/Outbox.swift
private func outboxStatusesExample() async throws {
    for await entry in outbox.statuses {
        if case .failed(let failure) = entry.state { show(failure.message) }
    }
}

// Decoding/OutdatedModel.swift
private func outdatedModelExample() async throws {
    let created: Coin = try await service.post(
        "coins", body: coin,
        outdating: [.get("coins", as: [Coin].self), .request(Coins.top), .key(ModelKey<Int>("count"))])
    use(created)
}

// Fetch/SharedFetch.swift
private func sharedFetchExample() async throws {
    let coins = service.coins().shared()
    async let list: Void = list.show(coins)
    async let total: Void = total.show(coins)
    _ = await (list, total)
}

// Search/TextSearch.swift
private func textSearchExample() async throws {
    let filter = ModelFilter("Zoë", in: \Contact.name, comparing: [.caseSensitive, .diacriticSensitive])
    use(filter)
}
