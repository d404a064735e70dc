import EssentialsFetching
import EssentialsHTTP
import EssentialsRequests
import EssentialsResources
import EssentialsTestKit
import EssentialsTools

/// The choices of a sequence.
struct IdentityPlan: Sendable {
    /// Whether the application enters accounts.
    var hasAccounts = true
    /// Whether entities are in files, or in memory.
    var storesEntities = true
    /// Whether models lie in the entity cache of the resources.
    var sharesCache = false
    var habits = IdentityTransport.Habits()
}

/// The account of a fetching service.
final class FetchingAccount: Sendable {
    private let account = Mutex(EntityPartition.shared)

    var value: EntityPartition {
        get { account.withLock { $0 } }
        set { account.withLock { $0 = newValue } }
    }
}

/// The fetching service of the test's application.
struct IdentityFetching: FetchingService, ModelCaching {
    let requests: any DataRequestService
    let cache: any AsyncCache
    let account: FetchingAccount
    let fetchDefaults: FetchDefaults

    var partition: EntityPartition { account.value }
}

/// The services of one process.
struct IdentityClient: Sendable {
    let environment: MutableEnvironment
    let jar: CookieJar
    let requests: HTTPDataRequestService
    let resources: HTTPResourceService
    let models: ModelCache
    let fetching: IdentityFetching
    let blobs: BlobService
    /// The outbox; `nil` in a program that only reads the stores.
    let outbox: Outbox?

    /// - Parameter isReader: Whether the program only reads the caches.
    init(
        _ plan: IdentityPlan, in directory: IdentityDirectory, over transport: any Transport, _ clock: ManualClock,
        environment number: Int, isReader: Bool = false
    ) throws {
        let clock = clock.requestClock
        environment = MutableEnvironment(try TestedEnvironment.all[number].snapshot())
        let file = CookieFile(directory.path + "/cookies")
        jar = isReader ? CookieJar(clock: clock) : try CookieJar(file: file, clock: clock)
        var settings = HTTPDataRequestService.Configuration()
        settings.clock = clock
        settings.cookies = jar
        requests = HTTPDataRequestService(environment: environment, transport: transport, configuration: settings)
        let files = try FileEntityCache(directory: directory.path + "/entities")
        var configuration = HTTPResourceService.Configuration()
        configuration.clock = clock
        let entities: any EntityCache = plan.storesEntities ? files : MemoryEntityCache()
        resources = try HTTPResourceService(
            requests: requests, environment: environment, cache: entities, configuration: configuration)
        var modelSettings = ModelCache.Configuration()
        modelSettings.clock = clock
        models =
            plan.sharesCache
            ? ModelCache(over: files, configuration: modelSettings)
            : try ModelCache(directory: directory.path + "/models", configuration: modelSettings)
        fetching = IdentityFetching(
            requests: requests, cache: models, account: FetchingAccount(), fetchDefaults: FetchDefaults(clock: clock))
        blobs = try BlobService(requests: requests, environment: environment, directory: directory.path + "/blobs")
        var outboxSettings = Outbox.Configuration()
        outboxSettings.clock = clock
        outbox =
            isReader
            ? nil
            : try Outbox(
                directory: directory.path + "/outbox", requests: requests, environment: environment,
                configuration: outboxSettings)
    }

    /// Enters an account in all services that have one.
    func enter(_ account: String) {
        let partition = EntityPartition(account)
        requests.enter(partition)
        resources.enter(partition)
        blobs.enter(partition)
        fetching.account.value = partition
    }

    /// Ends all services, and writes pending changes.
    func close() async {
        await outbox?.close()
        await resources.close()
        await models.flush()
        await blobs.close()
        await requests.shutdown()
    }

    func resource(_ path: String) -> Resource<MadeItem> { resources.resource(path) }
}
