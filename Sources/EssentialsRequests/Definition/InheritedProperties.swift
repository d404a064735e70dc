/// The properties that a request inherits, in the order in which they apply. They stay apart from each other and from the
/// request's own, so that a request can be sent by another value of its API.
struct InheritedProperties: Sendable {
    /// It is an object, because most requests inherit no properties, and contexts are copied often.
    private final class Storage: Sendable {
        let service: RequestProperties
        let value: RequestProperties
        let endpoints: RequestProperties

        init(service: RequestProperties, value: RequestProperties, endpoints: RequestProperties) {
            self.service = service
            self.value = value
            self.endpoints = endpoints
        }
    }

    /// `nil` for no properties.
    private var storage: Storage?

    /// The properties of a service.
    init(service: RequestProperties) {
        if !service.isEmpty {
            storage = Storage(service: service, value: RequestProperties(), endpoints: RequestProperties())
        }
    }

    /// The properties of the value of an API.
    var value: RequestProperties { storage?.value ?? RequestProperties() }

    /// The properties of the value of an API, instead of those that another value has set.
    mutating func setValue(_ properties: RequestProperties) {
        guard storage != nil || !properties.isEmpty else { return }
        storage = Storage(
            service: storage?.service ?? RequestProperties(), value: properties,
            endpoints: storage?.endpoints ?? RequestProperties())
    }

    /// Adds the properties of an endpoint after all others.
    mutating func append(_ properties: RequestProperties) {
        guard !properties.isEmpty else { return }
        var endpoints = storage?.endpoints ?? RequestProperties()
        endpoints.append(properties)
        storage = Storage(
            service: storage?.service ?? RequestProperties(), value: storage?.value ?? RequestProperties(),
            endpoints: endpoints)
    }

    /// Changes the properties of all components.
    mutating func change(_ change: (inout RequestProperties) -> Void) {
        guard let storage else { return }
        var (service, value, endpoints) = (storage.service, storage.value, storage.endpoints)
        change(&service)
        change(&value)
        change(&endpoints)
        self.storage = Storage(service: service, value: value, endpoints: endpoints)
    }

    /// One kind of properties, followed by that of the request.
    func joined<Part>(
        to own: Part, _ part: (RequestProperties) -> Part, _ append: (inout Part, Part) -> Void
    ) -> Part {
        guard let storage else { return own }
        var joined = part(storage.service)
        append(&joined, part(storage.value))
        append(&joined, part(storage.endpoints))
        append(&joined, own)
        return joined
    }

    /// All properties.
    var all: RequestProperties {
        guard let storage else { return RequestProperties() }
        var all = storage.service
        all.append(storage.value)
        all.append(storage.endpoints)
        return all
    }
}
