import EssentialsLocator
import Testing

@Suite("ServiceLocator: parents and children")
struct ServiceLocatorHierarchyTests {
    let root = ServiceLocator(name: "root")

    @Test("A child finds the services of its parents")
    func inherits() throws {
        let greeter = PoliteGreeter()
        try root.register(greeter, as: (any Greeter).self)
        let child = ServiceLocator(name: "grandchild", parent: ServiceLocator(name: "child", parent: root))
        #expect(try child.resolve((any Greeter).self) === greeter)
    }

    @Test("A parent does not find the services of a child")
    func doesNotLookDown() throws {
        let child = ServiceLocator(name: "child", parent: root)
        try child.register(PoliteGreeter(), as: (any Greeter).self)
        #expect(try root.resolveOptional((any Greeter).self) == nil)
    }

    @Test("A child's registration overrides its parent's until it is unregistered")
    func covers() throws {
        try root.register(PoliteGreeter("root"), as: (any Greeter).self)
        let child = ServiceLocator(name: "child", parent: root)
        try child.register(PoliteGreeter("child"), as: (any Greeter).self)
        #expect(try child.resolve((any Greeter).self).greeting == "child")
        #expect(child.unregister((any Greeter).self))
        #expect(try child.resolve((any Greeter).self).greeting == "root")
        #expect(!child.unregister((any Greeter).self))
    }

    @Test("A parent's factory receives the parent and uses no service of the child that resolves")
    func ownerLocator() throws {
        try root.register(PoliteGreeter("root"), as: (any Greeter).self)
        let owners = Recorder<String>()
        try root.registerLazy((any Mailer).self) { locator in
            owners.append(locator.name)
            return try GreetingMailer(greeter: locator.resolve((any Greeter).self))
        }
        let child = ServiceLocator(name: "child", parent: root)
        try child.register(PoliteGreeter("child"), as: (any Greeter).self)
        let mailer = try child.resolve((any Mailer).self)
        #expect(mailer.greeter.greeting == "root")
        #expect(owners.all == ["root"])
        #expect(try root.resolve((any Mailer).self) === mailer)
    }

    @Test("A child's factory can wrap the parent's service of the same type")
    func wrapsParent() throws {
        try root.registerLazy((any Greeter).self) { _ in PoliteGreeter("root") }
        let child = ServiceLocator(name: "child", parent: root)
        try child.registerLazy((any Greeter).self) { locator in
            let wrapped = locator.parent?.require((any Greeter).self).greeting ?? ""
            return PoliteGreeter("wrapped \(wrapped)")
        }
        #expect(try child.resolve((any Greeter).self).greeting == "wrapped root")
    }

    @Test("A child retains its parent, and a parent does not retain its children")
    func lifetimes() throws {
        weak var weakParent: ServiceLocator?
        var child: ServiceLocator?
        do {
            let parent = ServiceLocator(name: "parent")
            try parent.register(PoliteGreeter("parent"), as: (any Greeter).self)
            weakParent = parent
            child = ServiceLocator(name: "child", parent: parent)
        }
        weak let weakChild = child
        #expect(weakParent != nil)
        #expect(try child?.resolve((any Greeter).self).greeting == "parent")
        child = nil
        #expect(weakChild == nil)
        #expect(weakParent == nil)
    }

    @Test("Services are released with their locator, the youngest registration first")
    func services() throws {
        let deaths = Recorder<String>()
        do {
            let locator = ServiceLocator(name: "scope", parent: root)
            try locator.register(Mortal("a") { deaths.append($0) }, as: (any Greeter).self)
            try locator.registerLazy((any Greeter).self, named: "b") { _ in Mortal("b") { deaths.append($0) } }
            try locator.register(Mortal("c") { deaths.append($0) }, as: (any Greeter).self, named: "c")
            _ = try locator.resolve((any Greeter).self, named: "b")
            #expect(deaths.all.isEmpty)
        }
        #expect(deaths.all == ["c", "b", "a"])
    }

    @Test("A replaced or unregistered service is released with its locator and not before")
    func deferredRelease() throws {
        let deaths = Recorder<String>()
        do {
            let locator = ServiceLocator(name: "scope")
            try locator.register(Mortal("replaced") { deaths.append($0) }, as: (any Greeter).self)
            try locator.replace(Mortal("removed") { deaths.append($0) }, as: (any Greeter).self)
            locator.unregister((any Greeter).self)
            #expect(deaths.all.isEmpty)
        }
        #expect(deaths.all.sorted() == ["removed", "replaced"])
    }

    @Test("A resolved service outlives its locator while it is retained")
    func resolvedServiceLives() throws {
        var scope: ServiceLocator? = ServiceLocator(name: "scope")
        try scope?.register(PoliteGreeter("still here"), as: (any Greeter).self)
        let greeter = try scope?.resolve((any Greeter).self)
        scope = nil
        #expect(greeter?.greeting == "still here")
    }
}
