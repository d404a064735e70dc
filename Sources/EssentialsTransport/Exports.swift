#if canImport(HTTPTypes)
    @_exported public import HTTPTypes
#else
    #error("Enable the trait “Requests” of ServiceEssentials: EssentialsTransport and the modules above it need it.")
#endif
