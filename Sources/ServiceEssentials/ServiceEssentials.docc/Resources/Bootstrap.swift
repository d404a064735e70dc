import ServiceEssentials

let app = Assembly("app") { locator in
    try locator.registerLazy((any EnvironmentService).self) { _ in
        try SwitchableEnvironment(contentsOfFile: "environments.json")
    }
    try locator.registerLazy((any DataRequestService).self) { locator in
        try HTTPDataRequestService(environment: locator.resolve((any EnvironmentService).self))
    }
    try locator.registerLazy((any UserList).self) { locator in
        try ServerUserList(requests: locator.resolve((any DataRequestService).self))
    }
}
