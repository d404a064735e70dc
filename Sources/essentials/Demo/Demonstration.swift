import ServiceEssentials

/// A demonstration of the package: steps that do what application code does.
protocol Demonstration {
    /// The steps, which are run in this order.
    var steps: [DemoStep] { get }
    /// The locator of the application, with all of its services.
    var locator: ServiceLocator { get }
    /// Closes the services, and the connections of the request service with them.
    func close() async
}

extension Demonstration {
    /// The registrations, and the services that each one was created from.
    var graph: ServiceGraph { locator.graph() }

    func close() async { await locator.close() }

    func promise(_ isKept: Bool, _ text: String) throws(BrokenPromise) {
        guard isKept else { throw BrokenPromise(text: text) }
    }
}

/// One step of a demonstration.
struct DemoStep {
    let name: String
    /// Runs the step, and returns a line that describes what has happened.
    let run: () async throws -> String
}

/// A claim of a step that proved false.
struct BrokenPromise: Error, CustomStringConvertible {
    let text: String
    var description: String { "this should hold: \(text)." }
}
