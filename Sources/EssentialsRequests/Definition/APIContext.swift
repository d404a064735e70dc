public import EssentialsHTTP

/// Everything that a request inherits from the component that defines it.
///
/// ```swift
/// Users.context.path            // "users"
/// ```
public struct APIContext: Sendable {
    /// The base URL.
    public var base: RequestBase
    /// The paths of all endpoints, the outermost first.
    public var path: RequestPath
    /// The shared properties of all components, those of the parent first.
    public var properties: RequestProperties {
        get { inherited.all }
        set { inherited = InheritedProperties(service: newValue) }
    }
    var inherited: InheritedProperties
    /// How requests are sent.
    public var configuration: APIConfiguration
    /// The codecs of bodies and models; `nil` for those of the service that sends the request.
    public var codecs: CodecRegistry?
    /// The model type for the body of an unexpected response; `nil` for that of the service that sends the request.
    public var errorModel: (any (Decodable & Sendable).Type)?

    /// Creates the context of a service.
    public init(
        base: RequestBase, properties: RequestProperties = RequestProperties(),
        configuration: APIConfiguration = APIConfiguration(), codecs: CodecRegistry? = nil,
        errorModel: (any (Decodable & Sendable).Type)? = nil
    ) {
        self.base = base
        path = RequestPath()
        inherited = InheritedProperties(service: properties)
        self.configuration = configuration
        self.codecs = codecs
        self.errorModel = errorModel
    }

    /// Adds what a child has, so that this is the context of the child.
    mutating func enter<Component: Endpoint>(_ component: Component.Type)
    where
        Component.Codecs: DefinitionChoice<CodecRegistry>, Component.SharedPropertiesChoice == RequestProperties,
        Component.ConfigurationChoice == APIConfiguration
    {
        path.append(component.path)
        inherited.append(component.sharedProperties)
        configuration = component.configuration
        if let own = component.codecs.definitionValue { codecs = own }
        choose(component.errorModel, of: component)
    }

    /// Uses the error model that a component declares, if it has one. Another declaration fails when a request is built.
    mutating func choose(_ declared: some Any, of component: Any.Type) {
        do throws(RequestFailure) {
            if let own = try ErrorModelDeclaration.model(declared, of: component) { errorModel = own }
        } catch {
            inherited.append(RequestProperties(failingWith: error))
        }
    }

    /// Sets the base URL and the properties of a value.
    mutating func setValue(base: RequestBase, _ properties: RequestProperties) {
        self.base = base
        inherited.setValue(properties)
    }

    /// Sets the base URL and the properties of the value that another context belongs to.
    mutating func setValue(of other: APIContext) { setValue(base: other.base, other.inherited.value) }
}
