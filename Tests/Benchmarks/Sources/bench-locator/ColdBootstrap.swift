internal import EssentialsLocator

/// A program's bootstrap with 1,000 services, each registered by its own protocol.
///
/// Every call is written out with its types, as in a program. With a list of types, or in generic code, the metadata of
/// the protocols would be created elsewhere, perhaps before the measurement starts.
enum ColdBootstrap {
    static func register(in locator: ServiceLocator) throws {
        try registerCold0(in: locator)
        try registerCold100(in: locator)
        try registerCold200(in: locator)
        try registerCold300(in: locator)
        try registerCold400(in: locator)
        try registerCold500(in: locator)
        try registerCold600(in: locator)
        try registerCold700(in: locator)
        try registerCold800(in: locator)
        try registerCold900(in: locator)
    }

    static func resolve(from locator: ServiceLocator) throws {
        try resolveCold0(from: locator)
        try resolveCold100(from: locator)
        try resolveCold200(from: locator)
        try resolveCold300(from: locator)
        try resolveCold400(from: locator)
        try resolveCold500(from: locator)
        try resolveCold600(from: locator)
        try resolveCold700(from: locator)
        try resolveCold800(from: locator)
        try resolveCold900(from: locator)
    }

    /// Makes the runtime create the types of the registered services, and nothing else.
    static func nameTypes() {
        nameCold0()
        nameCold200()
        nameCold400()
        nameCold600()
        nameCold800()
    }
}

/// Uses a type from the optimizer's point of view.
@inline(never)
@_optimize(none)
func name(_ type: Any.Type) {}

/// Uses a service from the optimizer's point of view.
@inline(never)
@_optimize(none)
func use(_ service: any ColdProtocol) {}
