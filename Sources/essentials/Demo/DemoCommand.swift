import ArgumentParser
import EssentialsTestKit
import ServiceEssentials

/// `essentials demo`
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Demonstrate the package without a network.",
        discussion: """
            Starts an HTTPS API on the loopback address, inside the process, and uses it as an application does: a \
            locator with an environment and a lazily created, pinned request service; a scope with a double; a cart \
            behind a weak proxy; a GET, a POST, a cancelled request; and a server whose key is not pinned. Each step \
            prints one line. The source of the demonstration is meant to be copied.

            With --resources, it shows observed resources instead: two screens that need one request, a confirmation \
            with 304, an optimistic change that the server refuses, another environment, and a logout. Each line \
            says what the server has received.

            With --policies, it shows fetches with a cache instead: a coin list while the server is down and afterwards, \
            a picture that is transferred once, and requests in an outbox that are sent when the server is up again.

            With --persistence, it shows a store in a temporary directory instead: a pending change that the store does not \
            see, a conflict with its three rows, and a process that is killed while it saves, whose confirmed saves are \
            there afterwards.

            With --inspect, it shows the page of an inspector instead: it prints an address for a browser, and sends requests to \
            its own server until Ctrl-C, which the page follows.

            EXIT CODES
              0 all steps succeeded, 1 a step failed, 69 with --persistence: the tool was built without it
            """)

    /// The time after which the steps are cancelled. They take less than a second.
    private static let limit = Duration.seconds(60)

    @Flag(name: .customLong("resources"), help: "Demonstrate observed resources.")
    var showsResources = false

    @Flag(name: .customLong("policies"), help: "Demonstrate fetches with a cache, blobs and an outbox.")
    var showsPolicies = false

    @Flag(name: .customLong("persistence"), help: "Demonstrate a store, its scopes and their conflicts.")
    var showsPersistence = false

    @Flag(name: .customLong("inspect"), help: "Send requests until Ctrl-C, and serve a page that shows them.")
    var inspects = false

    /// The store of a process that the demonstration starts and kills.
    @Option(name: .customLong("saving-process"), help: .private)
    var savingPath: String?

    @Flag(help: "Finally print the locator's graph: the registrations, and the services each one was created from.")
    var graph = false

    @OptionGroup(title: "Output") var errors: ErrorOptions

    func validate() throws {
        if inspects, graph { throw ValidationError("Give --graph or --inspect, not both. The page has the graph.") }
        guard [showsResources, showsPolicies, showsPersistence, inspects].count(where: \.self) > 1 else { return }
        throw ValidationError("Give only one of --resources, --policies, --persistence and --inspect.")
    }

    func run() async throws {
        try await FailurePrinter(format: errors.format).run { () async throws(RequestFailure) in
            do {
                #if Persistence
                    if let savingPath { return try await SavingProcess.save(into: savingPath) }
                #endif
                try await inspects ? inspect() : showInTime()
            } catch let failure as RequestFailure {
                throw failure
            } catch {
                throw RequestFailure(
                    .protocolViolation, "A step of the demonstration failed: \(error)",
                    remedy: "Report it with the lines above.", underlying: error)
            }
        }
    }

    /// Serves a page until a signal, which is its only end and so its success.
    private func inspect() async throws {
        let demo = try InspectDemo(api: DemoAPI())
        do throws(RequestFailure) {
            try await Interruption.watch(removing: nil) { () async throws(RequestFailure) in try await demo.run() }
        } catch {
            if !(error.underlying is Interruption.Signal) { throw error }
        }
    }

    /// Shows the steps. A screen whose event does not arrive would wait forever.
    private func showInTime() async throws {
        let showing = Task { try await show() }
        let limit = Task {
            try await Task.sleep(for: Self.limit)
            showing.cancel()
        }
        defer { limit.cancel() }
        try await showing.value
    }

    private func show() async throws {
        let demo = try demonstration()
        for step in demo.steps {
            let result = try await step.run()
            try StandardStream.output.write("\(step.name): \(result)\n")
        }
        if graph { try StandardStream.output.write("\n\(demo.graph)\n") }
        await demo.close()
    }

    private func demonstration() throws -> any Demonstration {
        if showsPersistence {
            #if Persistence
                return try PersistenceDemo()
            #else
                throw MissingTrait.failure
            #endif
        }
        if showsResources { return try ResourcesDemo(api: ResourcesDemoAPI()) }
        return showsPolicies ? try PoliciesDemo(api: PoliciesDemoAPI()) : try Demo(api: DemoAPI())
    }
}
