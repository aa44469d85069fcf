package io.writepath.jpareader;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.security.MessageDigest;

@Entity
@Table(name = "users")
class User {

    @Id
    private Long id;

    private String name;
    private byte[] passwordHash;

    /** For Hibernate, which fills the fields. */
    @SuppressWarnings("NullAway.Init")
    protected User() {}

    long id() {
        return id;
    }

    String name() {
        return name;
    }

    /** Compares in constant time. */
    boolean hasPassword(String password) {
        return MessageDigest.isEqual(passwordHash, DataSet.passwordHash(name, password));
    }
}
