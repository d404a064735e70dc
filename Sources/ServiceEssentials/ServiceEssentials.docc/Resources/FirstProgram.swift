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
    let users: [User] = try await requests.get("users", parameters: ["role": "admin"])
    print(users.map(\.name).joined(separator: ", "))
    await locator.close()
} catch { print(error); exit(1) }
