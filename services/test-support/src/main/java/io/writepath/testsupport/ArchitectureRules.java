package io.writepath.testsupport;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/**
 * The direction of dependencies. The {@code ArchitectureTests} of each application run these over it and over the
 * modules that it uses: {@code @ArchTest static final ArchTests rules = ArchTests.in(ArchitectureRules.class);}
 */
public final class ArchitectureRules {

    private static final String[] APPLICATIONS = {
        "io.writepath.jpawriter..",
        "io.writepath.rabbitmq.producer..",
        "io.writepath.rabbitmq.consumer..",
        "io.writepath.elasticsearchwriter.."
    };

    /** An application is a leaf: what two of them need lives in a module below both. */
    @ArchTest
    static final ArchRule NOTHING_ELSE_IMPORTS_AN_APPLICATION = noClasses()
            .that()
            .resideOutsideOfPackages(APPLICATIONS)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(APPLICATIONS)
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule APPLICATIONS_NEVER_IMPORT_EACH_OTHER = slices().matching(
                    "io.writepath.(jpawriter|rabbitmq.producer|rabbitmq.consumer|elasticsearchwriter)..")
            .should()
            .notDependOnEachOther()
            .allowEmptyShould(true);

    /** A store serves an ingress and a consumer alike, so it knows of neither. */
    @ArchTest
    static final ArchRule STORES_NEVER_IMPORT_WEB = noClasses()
            .that()
            .resideInAPackage("io.writepath.store..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.writepath.web..", "org.springframework.web..", "jakarta.servlet..")
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule STORES_NEVER_IMPORT_EACH_OTHER = slices().matching("io.writepath.store.(*)..")
            .should()
            .notDependOnEachOther()
            .allowEmptyShould(true);

    /** The ports are plain Java: whatever implements them may choose its own framework. */
    @ArchTest
    static final ArchRule PORTS_IMPORT_NO_FRAMEWORK = noClasses()
            .that()
            .resideInAPackage("io.writepath.post..")
            .should()
            .dependOnClassesThat()
            .resideOutsideOfPackages("io.writepath.post..", "java..", "org.jspecify..")
            .allowEmptyShould(true);

    private ArchitectureRules() {}
}
