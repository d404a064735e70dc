import EssentialsTestKit
import FoundationEssentials
import ServiceEssentials
import Testing

@Suite("The article PathsAndIdentity")
struct PathsAndIdentityTests {

    @Test("The article on paths and identity shows which texts name the same resource")
    func paths() throws {
        let environment = try ConstantEnvironment("https://api.example.com/v1/")
        let requests = HTTPDataRequestService(environment: environment, transport: ScriptedTransport())
        let service = try HTTPResourceService(requests: requests, environment: environment)
        var shown: [String] = []
        func show(_ value: String?) { shown.append(value ?? "nil") }
        func show(_ value: Bool) { shown.append("\(value)") }

        // Article begins
        let report: Resource<String> = service.resource("reports/2026?draft")
        show(report.url)  // https://api.example.com/v1/reports/2026%3Fdraft
        let user: Resource<String> = service.resource("users", "a/b")
        show(user.url)  // https://api.example.com/v1/users/a%2Fb
        // Article ends

        // Article begins
        let orders: Resource<[String]> = service.resource("users", "7", "orders")
        let first: Resource<String> = orders.child("1")
        let next: Resource<[String]>? = orders.relative("?page=2")
        let sorted = orders.withParam("sort", "date").withParam("limit", "10")
        // https://api.example.com/v1/users/7/orders?limit=10&sort=date
        show(sorted.url)
        // Article ends
        #expect(first.url == "https://api.example.com/v1/users/7/orders/1")
        #expect(next?.url == "https://api.example.com/v1/users/7/orders?page=2")

        // Article begins
        let same: Resource<String> = service.resource(
            url: "HTTPS://api.example.com:443/v1/reports/2026%3fdraft")
        show(same == report)  // true
        // Article ends

        // Article begins
        let data: Resource<Data> = report.resource()
        show(data.any == report.any)  // true
        // Article ends

        // Article begins
        let table: Resource<String> = service.resource(
            "report", variant: .accept("text/csv"))
        // Article ends
        #expect(table != service.resource("report"))
        #expect(
            shown == [
                "https://api.example.com/v1/reports/2026%3Fdraft", "https://api.example.com/v1/users/a%2Fb",
                "https://api.example.com/v1/users/7/orders?limit=10&sort=date", "true", "true",
            ])
    }

    @Test("The article on paths and identity shows how other hosts are allowed")
    func foreignHosts() async throws {
        let environment = try ConstantEnvironment("https://api.example.com/v1/")
        let requests = HTTPDataRequestService(environment: environment, transport: ScriptedTransport())
        // Article begins
        var configuration = HTTPResourceService.Configuration()
        configuration.foreignHosts = ["cdn.example.com"]
        let service = try HTTPResourceService(
            requests: requests, environment: environment,
            configuration: configuration)
        // Article ends
        let refused: Resource<String> = service.resource(url: "https://other.example.com/")
        let failure = await #expect(throws: RequestFailure.self) { try await refused.load() }
        #expect(failure?.reason == .hostRefused)
    }
}
