import Glibc
import ServiceEssentials

do {
    let baseURL = CommandLine.arguments.dropFirst().first ?? "https://api.example.com/v1/"
    let requests = try HTTPDataRequestService(environment: ConstantEnvironment(baseURL))
    let text: String = try await requests.get("users", parameters: ["role": "admin"])
    print(text)
    await requests.shutdown()
} catch { print(error); exit(1) }
