import Glibc
import ServiceEssentials

struct User: Codable { var name: String }
do {
    let baseURL = CommandLine.arguments.dropFirst().first ?? "https://api.example.com/v1/"
    let requests = try HTTPDataRequestService(environment: ConstantEnvironment(baseURL))
    let users: [User] = try await requests.get("users", parameters: ["role": "admin"])
    print(users.map(\.name).joined(separator: ", "))
    await requests.shutdown()
} catch { print(error); exit(1) }
