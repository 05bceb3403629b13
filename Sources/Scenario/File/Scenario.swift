import Encoding

/// A scenario that was read and found well-formed.
public struct Scenario: Sendable {
    /// The file it is in, as it was named.
    public let file: String
    /// What it shows.
    public let title: String
    /// The part of the library it belongs to.
    public let group: String
    /// Where its rule comes from.
    public let source: String
    /// The seed the file asks for.
    public let seed: String?
    /// How many steps it has.
    public var stepCount: Int { steps.count }
    let needs: [Need]
    let tenant: String
    let client: String
    let hasClientKey: Bool
    let idp: JSON
    let users: [User]
    let devices: [Phone]
    let steps: [Step]

    /// A person of a scenario.
    struct User: Sendable {
        let name: String
        let email: String
        let settings: JSON?
    }

    /// A phone of a scenario.
    struct Phone: Sendable {
        let id: String
        let settings: JSONObject
        let enrolled: [String]
    }

    /// A step of a scenario.
    struct Step: Sendable {
        let place: TextPlace
        /// Its number in the file, beginning with 1.
        let number: Int
        let name: String?
        let verb: String
        let times: Int
        let order: JSON
        let expect: JSON5Value?
        /// The steps that are done at once; empty for all but `parallel`.
        let parts: [Step]

        /// What a person calls it.
        var title: String {
            if let name { return name }
            let whose = (order["device"] ?? order["who"])?.string
            return whose.map { "\(verb) \($0)" } ?? verb
        }
    }

    /// The name it goes by: the file without folder and ending.
    public var name: String {
        let last = file.split(separator: "/").last.map(String.init) ?? file
        return last.hasSuffix(".json5") ? String(last.dropLast(6)) : last
    }

    /// Whether a list of names means this one: its name, with as many of its folders before it as the list has.
    public func isCalled(_ name: String) -> Bool {
        let path = file.hasSuffix(".json5") ? String(file.dropLast(6)) : file
        return path == name || path.hasSuffix("/" + name)
    }

    /// Reads a file's text.
    ///
    /// Throws ``BrokenFile`` with every fault in it.
    public init(file: String, text: String) throws(BrokenFile) {
        let root: JSON5Value
        do throws(JSON5Error) {
            root = try JSON5Reader.read(text)
        } catch {
            throw BrokenFile([FileFault(file: file, place: error.place, message: error.rule)])
        }
        var check = ShapeCheck(file: file)
        check.check(root, against: Format.file, at: "")
        let faults = check.faults + Placement(root, file: file).faults()
        guard faults.isEmpty else {
            throw BrokenFile(Array(faults.sorted { $0.place < $1.place }.prefix(ShapeCheck.mostFaults)))
        }
        self.init(file: file, checked: root)
    }

    private init(file: String, checked root: JSON5Value) {
        self.file = file
        title = root["title"]?.string ?? ""
        group = root["group"]?.string ?? ""
        source = root["source"]?.string ?? ""
        seed = root["seed"]?.string
        needs = (root["needs"]?.elements ?? []).compactMap { $0.string.flatMap(Need.init) }
        tenant = root["tenant"]?.string ?? "acme"
        client = root["client"]?.string ?? "app_demo"
        hasClientKey = root["client_key"]?.bool ?? false
        idp = root["idp"]?.json ?? .object([])
        users = (root["users"]?.members ?? []).map(User.init)
        devices = (root["devices"]?.members ?? []).map(Phone.init)
        steps = (root["steps"]?.elements ?? []).enumerated().map { Step($0.element, number: $0.offset + 1) }
    }
}

extension Scenario.User {
    fileprivate init(_ member: JSON5Value.Member) {
        name = member.name
        email = member.value["email"]?.string ?? "\(member.name)@example.com"
        settings = member.value["settings"]?.json
    }
}

extension Scenario.Phone {
    fileprivate init(_ member: JSON5Value.Member) {
        id = member.name
        let settings = (member.value.members ?? []).filter { $0.name != "enrolled" }
        self.settings = JSONObject(settings.map { ($0.name, $0.value.json) })
        let enrolled = member.value["enrolled"]
        self.enrolled = enrolled?.elements?.compactMap(\.string) ?? enrolled?.string.map { [$0] } ?? []
    }
}

extension Scenario.Step {
    fileprivate init(_ value: JSON5Value, number: Int) {
        let verb = (value.members ?? []).first { Placement.verbs.contains($0.name) }
        let parts = verb?.name == "parallel" ? verb?.value.elements ?? [] : []
        var times: Int64 = 1
        if let given = value["times"], let count = given.int { times = count }
        self.init(
            place: value.place, number: number, name: value["name"]?.string, verb: verb?.name ?? "",
            times: Int(times), order: parts.isEmpty ? verb?.value.json ?? .null : .null,
            expect: value["expect"], parts: parts.map { Scenario.Step($0, number: number) })
    }
}
