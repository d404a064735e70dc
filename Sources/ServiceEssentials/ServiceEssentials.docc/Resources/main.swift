import Glibc
import ServiceEssentials

do {
    let locator = try app.makeLocator()
    try await reportUsers(of: locator)
    await locator.close()
} catch let error as RequestFailure {
    print("The server did not deliver the users: \(error)")
    exit(1)
} catch {
    print("The program is not set up: \(error)")
    exit(1)
}
