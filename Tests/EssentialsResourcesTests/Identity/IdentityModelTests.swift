import EssentialsFetching
import Testing

@Suite("The model of data ownership")
struct IdentityModelTests {
    private func shown(
        hasAccounts: Bool = true, _ steps: (IdentityModel) -> Int, in store: TestedStore = .resource
    ) -> String? {
        let model = IdentityModel(hasAccounts: hasAccounts)
        let number = steps(model)
        model.checkShown(number, in: store, "a test")
        return model.violations.first?.kind
    }

    private func make(_ model: IdentityModel) -> Int {
        let view = model.view
        let environment = TestedEnvironment.all[view.environment]
        let arrival = IdentityModel.Arrival(
            origin: environment.origin, path: "r0", tenant: environment.tenant, language: environment.language,
            token: view.token)
        return model.arrived(arrival).item.number
    }

    @Test(
        "An item of another environment is not shown, even if the environments differ only in their name",
        arguments: 1...5)
    func environments(next: Int) {
        let kind = shown { model in
            let number = make(model)
            model.switchEnvironment(to: next) {}
            return number
        }
        #expect(kind == "resource: of another environment")
    }

    @Test("An item of one user is not shown to another user, before or after the account is entered")
    func users() {
        for enters in [false, true] {
            let kind = shown { model in
                model.setCredentials("ada.1.a") {}
                model.enter("ada") {}
                let number = make(model)
                model.setCredentials("bob.2.a") {}
                if enters { model.enter("bob") {} }
                return number
            }
            #expect(kind == "resource: of another user")
        }
    }

    @Test("The account of a user who comes back has its content, unless a logout removed it")
    func comingBack() {
        for logsOut in [false, true] {
            let kind = shown { model in
                model.setCredentials("ada.1.a") {}
                model.enter("ada") {}
                let number = make(model)
                if logsOut { model.logOut {} } else { model.setCredentials("bob.2.a") {} }
                model.setCredentials("ada.3.a") {}
                model.enter("ada") {}
                return number
            }
            #expect(kind == (logsOut ? "resource: of an earlier session, removed by the logout" : nil))
        }
    }

    @Test("Without accounts no item of an earlier session is shown, and items without a user are shown to every user")
    func withoutAccounts() {
        let kind = shown(hasAccounts: false) { model in
            model.setCredentials("ada.1.a") {}
            let number = make(model)
            model.setCredentials("ada.2.a") {}
            return number
        }
        #expect(kind == "resource: of an earlier session, without an account")
        let nobodys = shown(hasAccounts: false) { model in
            let number = make(model)
            model.setCredentials("ada.1.a") {}
            return number
        }
        #expect(nobodys == nil)
    }

    @Test("A request whose parts belong to different identities is found")
    func requests() {
        let model = IdentityModel(hasAccounts: true)
        model.setCredentials("ada.1.a") {}
        _ = model.arrived(
            .init(origin: "https://a.test", path: "r0", tenant: "secret-nine", token: "ada.1.b", cookie: "bob.7.a"))
        #expect(
            model.violations.map(\.kind) == [
                "request: fields of one environment at another", "request: credentials of another origin",
                "request: the cookie of another session",
            ])
    }

    @Test("A write with the credentials of another user is found")
    func writes() {
        let model = IdentityModel(hasAccounts: true)
        model.setCredentials("ada.1.a") {}
        let item = model.makeLocal(.write)
        model.setCredentials("bob.2.a") {}
        _ = model.arrived(
            .init(
                method: "PUT", origin: "https://a.test", path: "r0", tenant: "secret-zero", token: "bob.2.a", body: item
            ))
        #expect(model.violations.map(\.kind) == ["write: sent as another"])
    }
}
