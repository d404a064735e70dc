import Glibc
import ServiceEssentials

struct User: Codable { var name: String }
do {
    let baseURL = CommandLine.arguments.dropFirst().first ?? "https://api.example.com/v1/"
    let locator = ServiceLocator(name: "app")
    try locator.register(ConstantEnvironment(baseURL), as: (any EnvironmentService).self)
    try locator.registerLazy((any DataRequestService).self) { locator in
        try HTTPDataRequestService(environment: locator.resolve((any EnvironmentService).self))
    }
    let requests = try locator.resolve((any DataRequestService).self)
    struct Users: FetchingService, ModelCaching {
        let requests: any DataRequestService
        let cache: any AsyncCache
        func all() -> Emissions<[User]> { get("users", from: .backendElseCache, retry: .attempts(3)) }
    }
    let cache = try ModelCache(directory: "cache")
    let service = Users(requests: requests, cache: cache)
    for try await users in service.all() { print(users.source, users.value.map(\.name)) }
    let outbox = try Outbox(directory: "outbox", requests: requests, environment: ConstantEnvironment(baseURL))
    try await service.fireAndForget(.post("views", body: ["id": 7]), through: outbox)
    try await outbox.drain()  // what the server does not accept now is sent by the next run
    await cache.flush()
    await locator.close()
} catch { print(error); exit(1) }
