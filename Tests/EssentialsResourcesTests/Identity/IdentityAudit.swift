import EssentialsFetching
import EssentialsHTTP
import EssentialsRequests
import EssentialsResources
import EssentialsTestKit

/// Reads all stores as every user in every environment, without a server.
struct IdentityAudit {
    let plan: IdentityPlan
    let model: IdentityModel
    let directory: IdentityDirectory
    let clock: ManualClock

    init(driver: IdentityDriver) {
        (plan, model, directory, clock) = (driver.plan, driver.model, driver.directory, driver.clock)
    }

    /// No server can be reached.
    private struct Unreachable: Transport {
        func send(_ request: TransportRequest) async throws(RequestFailure) -> TransportResponse {
            throw RequestFailure(.connection, "No server is reachable.", host: request.url.origin.host.text)
        }

        func shutdown() async {}
    }

    func run() async throws {
        for user in ["", "ada", "bob"] { try await run(as: user) }
    }

    private func run(as user: String) async throws {
        let client = try IdentityClient(
            plan, in: directory, over: Unreachable(), clock, environment: 0, isReader: true)
        var view = model.view
        view.account = plan.hasAccounts ? user : ""
        view.isSuspended = false
        for number in TestedEnvironment.all.indices {
            let environment = TestedEnvironment.all[number]
            client.environment.set(try environment.snapshot())
            view.environment = number
            view.token = nil
            if !user.isEmpty {
                let token = TestedToken.make(user, 0, at: environment.origin)
                view.token = token
                client.requests.setAuthorization(try .bearer(token))
            }
            client.enter(view.account)
            await look(client, view)
        }
        await client.close()
    }

    private func look(_ client: IdentityClient, _ view: IdentityModel.View) async {
        let context = "by \(view.token ?? "nobody") in \(view.environment)"
        for path in IdentityDriver.resourcePaths {
            let item = try? await client.resource(path).load(.onlyIfStored)
            model.checkStored(item?.number, in: .resource, as: view, "\(path) \(context)")
        }
        for path in IdentityDriver.modelPaths {
            let found = try? await client.fetching.get(path, from: .cache, as: MadeItem.self).first()
            model.checkStored(found?.value.number, in: .model, as: view, "\(path) \(context)")
        }
        for path in IdentityDriver.blobPaths {
            let item = (try? await client.blobs.bytes(at: path)).flatMap { MadeItem(json: $0) }
            model.checkStored(item?.number, in: .blob, as: view, "\(path) \(context)")
        }
    }
}
