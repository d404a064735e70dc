/// A snapshot of the registrations of a locator and its parents, and of the services that each was built from.
///
/// An edge means that the factory of one registration resolved the other one. A service that was never built has no
/// edges.
///
/// ```swift
/// print(locator.graph())              // lines of text
/// print(locator.graph().mermaid)      // for documents
/// print(locator.graph().dot)          // for Graphviz
/// ```
public struct ServiceGraph: Sendable, Hashable {
    /// The kind of a registration.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// An object that the locator retains.
        case strong
        /// A service that is built at its first resolve.
        case lazy
        /// A service that is built at each resolve.
        case transient
        /// A service that an asynchronous factory builds.
        case async
        /// An object that the locator does not retain.
        case weak
        /// A proxy of an object that the locator does not retain.
        case weakProxy = "weak proxy"
    }

    /// The state of a registration.
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// The service exists.
        case built
        /// The factory has not run, or has failed.
        case unbuilt
        /// The factory is running.
        case building
        /// A new service is built at each resolve.
        case eachTime = "built each time"
        /// The object of a weak registration was released.
        case gone
        /// The locator was closed.
        case closed
        /// A factory of this graph resolved the service, which is not registered in these locators now.
        case elsewhere
    }

    /// A registration.
    public struct Registration: Sendable, Hashable, Identifiable {
        /// Unique in the process.
        public let id: UInt64
        /// The registered type, including its module.
        public let type: String
        /// The registration's name, or `nil`.
        public let name: String?
        /// The kind of registration.
        public let kind: Kind
        /// The state of the registration.
        public let state: State
        /// File and line of the registration.
        public let site: String
        /// Whether its factory resolved more than the 256 registrations for which there are ``ServiceGraph/edges``.
        public let hasMoreEdges: Bool
        /// The name of its locator, if no ``ServiceGraph/Locator`` of the graph has the registration.
        let locator: String?

        /// The type and name, and the locator of a registration that is ``ServiceGraph/State/elsewhere``.
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
        /// The registrations of the locator.
        public let registrations: [Registration]
    }

    /// A registration whose factory resolved another one.
    public struct Edge: Sendable, Hashable {
        /// The ``Registration/id`` of the registration whose factory ran.
        public let from: UInt64
        /// The ``Registration/id`` of the registration that it resolved.
        public let to: UInt64
    }

    /// The locator of the graph, then its parents, nearest first.
    public internal(set) var locators: [Locator]
    /// The registrations that factories resolved and that are not in ``locators`` now, as they were at that time.
    public internal(set) var elsewhere: [Registration]
    /// The dependencies, in the order in which they were resolved.
    public internal(set) var edges: [Edge]

    mutating func keepFirstLocator() {
        locators = Array(locators.prefix(1))
        elsewhere = []
        edges = []
    }
}
