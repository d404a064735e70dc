import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import TestTools

@testable import EssentialsFetching
@testable import EssentialsRequests

/// The account that is logged in, as an application holds it.
final class CurrentAccount: Sendable {
    private let partition = Mutex(EntityPartition.shared)

    var current: EntityPartition { partition.withLock { $0 } }

    func enter(_ new: EntityPartition) { partition.withLock { $0 = new } }
}

/// A service whose account is that of the application.
struct AccountService: FetchingService, ModelCaching {
    let requests: any DataRequestService
    let cache: any AsyncCache
    let account: CurrentAccount
    var fetchDefaults = FetchDefaults()

    var partition: EntityPartition { account.current }
}

/// A server whose responses show for whom they were made: the host, the tenant and the credentials of the request. The
/// models are stored in the files of a directory.
final class TenantFixture: Sendable {
    let transport = ScriptedTransport()
    let environment: MutableEnvironment
    let requests: HTTPDataRequestService
    let directory = ModelDirectory()
    let account = CurrentAccount()
    let cache: ModelCache
    private let gate = ResponseGate()

    static let tenant = HTTPField.Name("X-Tenant")!

    init(_ change: (inout HTTPDataRequestService.Configuration) -> Void = { _ in }) throws {
        environment = try MutableEnvironment("https://a/v1/")
        var settings = HTTPDataRequestService.Configuration()
        change(&settings)
        requests = HTTPDataRequestService(environment: environment, transport: transport, configuration: settings)
        cache = try ModelCache(directory: directory.path)
        // The transport must not refer to the fixture, whose end removes the directory.
        transport.on(nil, "/v1/**").answer { [gate] request in
            let coin = Coin(name: Self.name(of: request))
            await gate.latch.withLock { $0 }?.wait()
            return ScriptedAnswer(json: coin)
        }
    }

    private static func name(of request: RecordedRequest) -> String {
        let parts = [
            request.url.origin.host.text, request.headerFields[tenant], request.headerFields[.authorization],
            request.headerFields[.acceptLanguage],
        ]
        return parts.compactMap { $0 }.joined(separator: " ")
    }

    var service: AccountService { service(over: cache) }

    func service(over cache: any AsyncCache) -> AccountService {
        AccountService(requests: requests, cache: cache, account: account)
    }

    /// The service of the next start of the program, as far as the cache is concerned.
    func restarted() async throws -> AccountService {
        await cache.flush()
        return service(over: try ModelCache(directory: directory.path))
    }

    /// Makes later responses wait until the latch is open. They were made before that, and show for whom.
    func hold(until latch: Latch?) { gate.latch.withLock { $0 = latch } }

    /// Waits until a number of requests were sent.
    func sent(_ number: Int) async throws { _ = try await transport.request(number: number) }

    func use(_ base: String, name: String = "", _ fields: HTTPFields = [:], trust: TrustPolicy? = nil) throws {
        environment.set(
            EnvironmentSnapshot(name: name, baseURL: try RequestURL(base), headerFields: fields, trust: trust))
    }
}

/// The latch for which responses wait.
private final class ResponseGate: Sendable {
    let latch = Mutex<Latch?>(nil)
}

extension FetchingService {
    /// The name of the coin that the server returns now.
    func served(_ path: String = "coins") async throws(RequestFailure) -> String? {
        try await get(path, from: .backend, as: Coin.self).last()?.value.name
    }

    /// The name of the coin in the cache.
    func cached(_ path: String = "coins") async throws(RequestFailure) -> String? {
        try await get(path, from: .cache, as: Coin.self).last()?.value.name
    }
}
