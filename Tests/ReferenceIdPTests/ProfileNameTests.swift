import Encoding
import Profiles
import Testing

/// The rules for the names of the wire in a profile, for every name there is.
@Suite struct ProfileNameTests {
    /// Each object of names, by its path.
    private static let objects: [(path: [String], names: JSONObject)] = {
        let document = builtIn
        let tables = (document["members"]?.object?.members ?? []).map { (["members", $0.name], $0.value) }
        return ([(["ceremony", "claims"], document["ceremony"]?["claims"] ?? .null)] + tables).map {
            ($0.0, $0.1.object ?? JSONObject([]))
        }
    }()

    private static let builtIn: JSON = {
        let text = String(decoding: SenseCryptProfile.builtInDocument, as: UTF8.self)
        return (try? JSON5Reader.read(text).json) ?? .null
    }()

    /// What reading the built-in document says once a name in it is another.
    private func error(_ path: [String], _ field: String, _ name: String) throws -> ProfileError? {
        var document = try #require(Self.builtIn.object)
        var outer = try #require(document[path[0]]?.object)
        var inner = try #require(outer[path[1]]?.object)
        inner[field] = .string(name)
        outer[path[1]] = .object(inner)
        document[path[0]] = .object(outer)
        do throws(ProfileError) {
            _ = try SenseCryptProfile(json5: JSON.object(document).serialized())
            return nil
        } catch { return error }
    }

    @Test func `two equal names in one object are refused, whichever two they are`() throws {
        var pairs = 0
        for (path, names) in Self.objects {
            for field in names.names {
                for other in names.members where other.name != field {
                    let name = try #require(other.value.string)
                    let error = try error(path, field, name)
                    let fields = [field, other.name].sorted()
                    #expect(
                        error
                            == .sameName(object: path.joined(separator: "."), fields: fields, name: name))
                    #expect(error?.code == "profile.name_twice")
                    pairs += 1
                }
            }
        }
        #expect(pairs == 12 * 11 + 3 * 2 + 2 + 6 * 5 + 3 * 2 + 6 * 5 + 4 * 3)
    }

    @Test func `the error says the rule, the fields and the name`() throws {
        #expect(
            try error(["members", "enrollment"], "code", "ticket")?.description
                == "members.enrollment: no two names of one object are the same, and code and ticket are both \"ticket\""
        )
        #expect(
            try error(["ceremony", "claims"], "act", "")?.description
                == "ceremony.claims.act: a name of the wire is not empty, and this one is \"\"")
    }

    @Test func `an empty name is refused, whichever it is, and one of another object is not`() throws {
        for (path, names) in Self.objects {
            for field in names.names {
                let whole = (path + [field]).joined(separator: ".")
                #expect(try error(path, field, "") == .emptyName(whole))
                #expect(try error(path, field, "another") == nil, "\(whole)")
            }
        }
    }

    @Test func `a name that a standard gives to something else in the same object is refused`() throws {
        for (path, field, name) in [
            (["ceremony", "claims"], "ceremony", "jti"),
            (["members", "metadata"], "device_ceremony_endpoint", "issuer"),
            (["members", "challenge_form"], "face_token", "auth_session"),
            (["members", "start_answer"], "ceremony", "expires_in"),
        ] {
            let whole = (path + [field]).joined(separator: ".")
            #expect(try error(path, field, name) == .standardName(field: whole, name: name))
        }
    }

    @Test func `a profile that lacks a name says which`() throws {
        let text = String(decoding: SenseCryptProfile.builtInDocument, as: UTF8.self)
        let without = text.replacing("signup: { email: \"email\" },", with: "signup: {},")
        #expect(without != text)
        let error = #expect(throws: ProfileError.self) { try SenseCryptProfile(json5: Array(without.utf8)) }
        #expect(error?.code == "profile.unreadable" && error?.description.contains("email") == true)
    }
}
