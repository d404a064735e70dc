#if Persistence
    import EssentialsPersistence

    /// A row with a name and a second text.
    struct Label: PersistentModel, Hashable {
        var id: Int64
        var name: String?
        var other: String?

        static let table = "label"
        static let columns = Columns()

        struct Columns: ModelColumns {
            let id = Column<Label, Int64>("id")
            let name = Column<Label, String?>("name")
            let other = Column<Label, String?>("other")
            var all: [ModelColumn<Label>] { [id.erased, name.erased, other.erased] }
        }
    }
#endif
