/// What is registered in a locator and its parents, and what was built from what: a snapshot that prints.
///
/// An edge says that the factory of one registration resolved the other while it ran; what was never built has none.
///
/// ```swift
/// print(locator.graph())              // lines of text
/// print(locator.graph().mermaid)      // for documents
/// print(locator.graph().dot)          // for Graphviz
/// ```
public struct ServiceGraph: Sendable, Hashable {
    /// How a service was registered.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        case strong, lazy, transient, async, weak
        case weakProxy = "weak proxy"
    }

    /// How far a registration has come.
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// The service is there.
        case built
        /// The factory has not run, or has failed.
        case unbuilt
        /// The factory runs.
        case building
        /// Built anew at each resolve.
        case eachTime = "built each time"
        /// The object of a weak registration is no more.
        case gone
        /// The locator was closed.
        case closed
        /// Resolved by a factory of this graph, and not registered in these locators now.
        case elsewhere
    }

    /// A registration.
    public struct Registration: Sendable, Hashable, Identifiable {
        /// Unique in the process.
        public let id: UInt64
        /// The registered type, with its module.
        public let type: String
        /// The registration's name, if it has one.
        public let name: String?
        /// How it was registered.
        public let kind: Kind
        /// How far it has come.
        public let state: State
        /// File and line of the registration.
        public let site: String
        /// Whether its factory resolved more than there are ``ServiceGraph/edges`` of it, which are 256 at most.
        public let hasMoreEdges: Bool
        /// The name of its locator, where no ``ServiceGraph/Locator`` of the graph says it.
        let locator: String?

        /// Type and name, and of a registration elsewhere its locator.
        public var label: String {
            let label = Slot.label(type, name: name)
            return locator.map { "\(label) in \"\($0)\"" } ?? label
        }
    }

    /// A locator with its registrations, in order of registration.
    public struct Locator: Sendable, Hashable {
        /// The locator's name.
        public let name: String
        /// Whether it was closed.
        public let isClosed: Bool
        /// What is registered.
        public let registrations: [Registration]
    }

    /// A registration whose factory resolved another one.
    public struct Edge: Sendable, Hashable {
        /// The ``Registration/id`` of what was built.
        public let from: UInt64
        /// The ``Registration/id`` of what it needed.
        public let to: UInt64
    }

    /// The locator that was asked, then its parents, nearest first.
    public internal(set) var locators: [Locator]
    /// What factories resolved that is not in ``locators`` now, as it was when they did.
    public internal(set) var elsewhere: [Registration]
    /// Who was built from whom, in the order in which it was resolved.
    public internal(set) var edges: [Edge]

    mutating func keepFirstLocator() {
        locators = Array(locators.prefix(1))
        elsewhere = []
        edges = []
    }
}
