import ServiceEssentials

do {
    let locator = try app.makeLocator()
    try await reportUsers(of: locator)
    await locator.close()
} catch let error as RequestFailure {
    print("The server did not deliver the users: \(error)")
} catch let error as ServiceLocatorError {
    print("The program is not set up: \(error)")
}
