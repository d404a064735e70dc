#if Persistence
    import EssentialsPersistence

    /// A card of a person, for a third generation below a company.
    struct Card: PersistentModel, Hashable {
        var id: Int64
        var owner: Int64

        static let table = "card"
        static let columns = Columns()

        struct Columns: ModelColumns {
            let id = Column<Card, Int64>("id")
            let owner = Column<Card, Int64>("owner")
            var all: [ModelColumn<Card>] { [id.erased, owner.erased] }
        }
    }

    /// A row that may refer to a label by its name and its other text together.
    struct Tag: PersistentModel, Hashable {
        var id: Int64
        var name: String?
        var other: String?

        static let table = "tag"
        static let columns = Columns()

        struct Columns: ModelColumns {
            let id = Column<Tag, Int64>("id")
            let name = Column<Tag, String?>("name")
            let other = Column<Tag, String?>("other")
            var all: [ModelColumn<Tag>] { [id.erased, name.erased, other.erased] }
        }
    }

    /// A row that may refer to another row of its own table.
    struct Part: PersistentModel, Hashable {
        var id: Int64
        var whole: Int64?

        static let table = "part"
        static let columns = Columns()

        struct Columns: ModelColumns {
            let id = Column<Part, Int64>("id")
            let whole = Column<Part, Int64?>("whole")
            var all: [ModelColumn<Part>] { [id.erased, whole.erased] }
        }
    }

    /// A team that refers to one of its members.
    struct Team: PersistentModel, Hashable {
        var id: Int64
        var leader: Int64

        static let table = "team"
        static let columns = Columns()

        struct Columns: ModelColumns {
            let id = Column<Team, Int64>("id")
            let leader = Column<Team, Int64>("leader")
            var all: [ModelColumn<Team>] { [id.erased, leader.erased] }
        }
    }

    /// A member that refers to its team.
    struct Member: PersistentModel, Hashable {
        var id: Int64
        var team: Int64

        static let table = "member"
        static let columns = Columns()

        struct Columns: ModelColumns {
            let id = Column<Member, Int64>("id")
            let team = Column<Member, Int64>("team")
            var all: [ModelColumn<Member>] { [id.erased, team.erased] }
        }
    }
#endif
