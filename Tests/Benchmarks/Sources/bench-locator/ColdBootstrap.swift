internal import EssentialsLocator

/// What a program does once with 1,000 services, each by a protocol of its own.
///
/// Written out as a program does, so that each call names its types: in a list of them, or in generic code, the metadata of
/// the protocols would be made elsewhere, and perhaps before the clock is looked at.
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

    /// Has the runtime make the types that the services are registered as, and nothing else.
    static func nameTypes() {
        nameCold0()
        nameCold200()
        nameCold400()
        nameCold600()
        nameCold800()
    }
}

/// Uses a type as far as the optimizer can tell.
@inline(never)
@_optimize(none)
func name(_ type: Any.Type) {}

/// Uses a service as far as the optimizer can tell.
@inline(never)
@_optimize(none)
func use(_ service: any ColdProtocol) {}
